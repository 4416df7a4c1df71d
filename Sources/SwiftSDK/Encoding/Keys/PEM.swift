/// The one document of a text in the textual encoding of RFC 7468.
///
/// Text before and after it is explanatory (§2) and ignored. Lines may have any length, because writers differ and §3
/// permits it. A second document with any label is refused, because two parsers could choose different ones.
public struct PEM: Sendable, Equatable {
    /// The document's kind, such as `CERTIFICATE REQUEST`.
    public let label: String
    /// The bytes inside, at least one.
    public let bytes: [UInt8]

    /// Parses a text. The base64 may be in either alphabet (RFC 4648 §4 and §5), with or without padding.
    ///
    /// - Parameter bareLabel: the label of a text that is base64 alone, without the lines around it; `nil` if such a text is
    ///   refused.
    public init(_ text: String, bareLabel: String? = nil) throws(Defect) {
        guard text.utf8.count <= Self.maximumLength else { throw .tooLong }
        let text = Array(text.utf8)
        // The search covers the whole text: a private key may have lost its line breaks on the way.
        guard Self.places(of: "PRIVATE KEY-----", in: text[...]).isEmpty else { throw .privateKey }
        let begins = Self.places(of: "-----BEGIN ", in: text[...])
        guard let begin = begins.first else {
            guard let bareLabel, let bytes = Base64URL.decodeEitherAlphabet(text.filter { !Self.isSpace($0) }),
                !bytes.isEmpty
            else { throw .absent }
            (label, self.bytes) = (bareLabel, bytes)
            return
        }
        let rest = text[begin.upperBound...]
        guard begins.count == 1, Self.places(of: "-----END ", in: text[...]).count == 1,
            let dashes = Self.places(of: "-----", in: rest).first
        else { throw .notOne }
        let letters = rest[..<dashes.lowerBound]
        // A label is printable ASCII (RFC 7468 §3), so it is compared without cost.
        guard letters.allSatisfy({ (0x20...0x7E).contains($0) }) else { throw .notOne }
        let label = String(decoding: letters, as: UTF8.self)
        guard let end = Self.places(of: "-----END \(label)-----", in: rest).first,
            dashes.upperBound <= end.lowerBound
        else { throw .notOne }
        let base64 = rest[dashes.upperBound..<end.lowerBound].filter { !Self.isSpace($0) }
        guard let bytes = Base64URL.decodeEitherAlphabet(base64), !bytes.isEmpty else { throw .notOne }
        (self.label, self.bytes) = (label, bytes)
    }
}

public extension PEM {
    /// Why a text is not one such document.
    enum Defect: Error, Sendable {
        /// The text is longer than ``PEM/maximumLength``.
        case tooLong
        /// The text contains a private key, in any form.
        case privateKey
        /// No line begins a document.
        case absent
        /// Several documents, a part of one, or bad base64.
        case notOne
    }

    /// Longer texts are refused, bytes. A certification request with an RSA key of 4096 bits has about 1,700.
    static let maximumLength = 16_384

    /// Encodes a document; it ends with a line feed, so that documents can be concatenated.
    static func encode(_ bytes: [UInt8], label: String) -> String {
        var base64: [UInt8] = []
        Base64URL.append(bytes, to: &base64)
        base64 += [UInt8](repeating: UInt8(ascii: "="), count: (4 - base64.count % 4) % 4)
        var text = Array("-----BEGIN \(label)-----\n".utf8)
        text.reserveCapacity(2 * text.count + base64.count + base64.count / lineLength + 1)
        for start in stride(from: 0, to: base64.count, by: lineLength) {
            for character in base64[start..<min(start + lineLength, base64.count)] {
                text.append(standard(character))
            }
            text.append(UInt8(ascii: "\n"))
        }
        text += Array("-----END \(label)-----\n".utf8)
        return String(decoding: text, as: UTF8.self)
    }

    /// The length of a line of base64 (RFC 7468 §2).
    private static let lineLength = 64

    /// A character of base64url in the standard alphabet.
    private static func standard(_ character: UInt8) -> UInt8 {
        switch character {
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        default: character
        }
    }

    /// The places of a word in a text, by bytes: a search by characters takes ten times as long.
    private static func places(of word: String, in text: ArraySlice<UInt8>) -> [Range<Int>] {
        let word = Array(word.utf8)
        guard let first = word.first else { return [] }
        var (places, rest): ([Range<Int>], ArraySlice<UInt8>) = ([], text)
        while let start = rest.firstIndex(of: first) {
            rest = rest[start...]
            if rest.starts(with: word) {
                places.append(start..<start + word.count)
                rest = rest.dropFirst(word.count)
            } else {
                rest = rest.dropFirst()
            }
        }
        return places
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }
}

public extension Base64URL {
    /// Decodes base64 in the standard or the URL alphabet (RFC 4648 §4 and §5), with or without padding.
    static func decodeEitherAlphabet(_ text: some Collection<UInt8>) -> [UInt8]? {
        var characters = text.map { character in
            switch character {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: character
            }
        }
        if characters.count % 4 == 0 {
            for _ in 0..<2 where characters.last == UInt8(ascii: "=") { characters.removeLast() }
        }
        return decode(characters)
    }
}
