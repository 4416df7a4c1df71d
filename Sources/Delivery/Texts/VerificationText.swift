import Domain

/// The text with a code: a sentence, Android's app hash if there is one, and a line for autofill. Browsers and apps
/// fill in the code only for the host in that line (WICG, "Origin-bound one-time codes delivered via SMS"):
///
///     Forum: Your code is 123456. Do not share it.
///
///     FA+9qCX9VSu
///     @auth.example #123456
///
/// The initializer verifies that every code of the right length fits.
package struct VerificationText: Sendable, Equatable {
    private let start: String
    private let middle: String
    private let digits: Int

    /// The longest text. SMS Retriever's limit is 140 bytes ("Perform SMS verification on a server"). One part of a
    /// text has 140 octets or 160 septets (3GPP TS 23.040 §9.2.3.24). The limit applies to bytes of UTF-8 and to
    /// septets alike.
    static let maximumSize = 140

    /// The longest text with a character outside GSM-7: one part has 70 characters of UCS-2 (3GPP TS 23.038 §6.2.3).
    static let maximumWideSize = 70

    /// The placeholder of the code in the operator's sentence.
    static let mark = "{code}"

    /// The placeholder of the app's name, which may be missing.
    static let appMark = "{app}"

    /// Composes a text.
    ///
    /// - Parameters:
    ///   - sentence: one line with ``mark`` once.
    ///   - host: the host that the code is for; the last line names it.
    ///   - digits: the length of codes.
    ///   - retrieverHash: the 11-character hash by which Android finds the app; `nil` for none.
    /// - Throws: ``DeliveryError`` `text` or `policy`.
    init(sentence: String, host: String, digits: Int, retrieverHash: String?) throws(DeliveryError) {
        let parts = sentence.ranges(of: Self.mark)
        guard parts.count == 1, let mark = parts.first, !sentence.unicodeScalars.contains(where: { $0.value < 0x20 })
        else { throw .policy("text", expected: "one line with \(Self.mark) once") }
        guard Self.isHost(host) else { throw .policy("text_host", expected: "a host name") }
        if let retrieverHash, !Self.isRetrieverHash(retrieverHash) {
            throw .policy("android_retriever_hash", expected: "11 characters of base64 or \"\"")
        }
        start = String(sentence[..<mark.lowerBound])
        middle = sentence[mark.upperBound...] + "\n\n" + (retrieverHash.map { $0 + "\n" } ?? "") + "@\(host) #"
        self.digits = digits
        let longest = start + middle + String(repeating: "00", count: digits)
        let bytes = longest.utf8.count
        if let septets = SevenBitAlphabet.septets(longest) {
            let size = max(septets, bytes)
            guard size <= Self.maximumSize else {
                throw .text("has \(size) bytes with its lines for autofill, more than the \(Self.maximumSize) allowed")
            }
        } else {
            let size = longest.utf16.count
            guard size <= Self.maximumWideSize, bytes <= Self.maximumSize else {
                throw .text(
                    """
                    has \(size) characters and \(bytes) bytes with its lines for autofill, more than the \
                    \(Self.maximumWideSize) and \(Self.maximumSize) allowed outside the alphabet of texts (GSM-7)
                    """)
            }
        }
    }

    private init(
        _ policy: DeliveryPolicy, sentence: String, app: String?, realm: String, digits: Int
    ) throws(DeliveryError) {
        guard !policy.textHost.isEmpty || Self.isHost(realm) else { throw .realm(realm) }
        // A name is not read as a part of the sentence.
        guard app?.contains("{") != true else { throw .policy("text", expected: "a name without braces") }
        var sentence = sentence
        if let app {
            sentence = sentence.replacing(Self.appMark, with: app)
        } else {
            for mark in ["\(Self.appMark): ", "\(Self.appMark)：", Self.appMark] {
                sentence = sentence.replacing(mark, with: "")
            }
        }
        try self.init(
            sentence: sentence, host: policy.textHost.isEmpty ? realm : policy.textHost, digits: digits,
            retrieverHash: policy.androidRetrieverHash.isEmpty ? nil : policy.androidRetrieverHash)
    }
}

package extension VerificationText {
    /// The text that the policy describes, in English and without an app's name.
    ///
    /// - Parameters:
    ///   - realm: the host if the policy names none.
    ///   - digits: the length of codes (`phones.yaml`).
    /// - Throws: ``DeliveryError`` at the start, so that a text that cannot fit is found before a user waits for it.
    init(_ policy: DeliveryPolicy, realm: String, digits: Int) throws(DeliveryError) {
        for (_, sentence) in policy.sentences {
            _ = try Self(policy, sentence: sentence, app: nil, realm: realm, digits: digits)
        }
        try self.init(policy, sentence: policy.text, app: nil, realm: realm, digits: digits)
    }

    /// The best text that fits one part: in the person's language with the app's name, without the name, and then the
    /// policy's own.
    ///
    /// - Parameters:
    ///   - language: `nil` for the policy's `text`.
    ///   - app: the name of the app.
    /// - Throws: as ``init(_:realm:digits:)``.
    init(
        _ policy: DeliveryPolicy, language: TextLanguage?, app: String, realm: String, digits: Int
    ) throws(DeliveryError) {
        let own = language.map { language in
            policy.sentences.first { $0.tag == language.tag }?.sentence ?? language.sentence
        }
        let names: [String?] = app.isEmpty ? [nil] : [app, nil]
        for sentence in [own, policy.text].compactMap(\.self) {
            for app in names {
                if let text = try? Self(policy, sentence: sentence, app: app, realm: realm, digits: digits) {
                    self = text
                    return
                }
            }
        }
        try self.init(policy, realm: realm, digits: digits)
    }

    /// The text with a code.
    ///
    /// - Returns: `nil` if the code has the wrong length or a character that is not an ASCII digit.
    func body(code: String) -> String? {
        guard code.utf8.count == digits, code.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return start + code + middle + code
    }

    /// RFC 952 and RFC 1123 §2.1: labels of letters, digits and hyphens.
    private static func isHost(_ text: String) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                    && label.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
            }
    }

    private static func isRetrieverHash(_ text: String) -> Bool {
        text.utf8.count == 11
            && text.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
    }
}
