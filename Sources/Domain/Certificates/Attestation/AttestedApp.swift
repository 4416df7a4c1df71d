import Encoding

/// An app whose devices may attest their keys. A verifier that takes the app from the attestation accepts every app.
package enum AttestedApp: Sendable, Hashable {
    /// The team's identifier and the bundle's, with a dot between them.
    case apple(String)
    /// The package, and SHA-256 of the certificate that signs it.
    case android(package: String, certificate: Digest256)
}

package extension AttestedApp {
    /// Takes an app identifier such as `ABCDE12345.com.example.app`; `nil` for any other text.
    init?(apple text: String) {
        let team = text.utf8.prefix { $0 != UInt8(ascii: ".") }
        let bundle = text.utf8.dropFirst(team.count + 1)
        guard team.count == 10, team.allSatisfy({ Self.isDigit($0) || (0x41...0x5A).contains($0) }),
            Self.isDotted(bundle, also: UInt8(ascii: "-"))
        else { return nil }
        self = .apple(text)
    }

    /// Takes an Android package such as `com.example.app`; `nil` for any other text.
    init?(package text: String, certificate: Digest256) {
        guard text.utf8.contains(UInt8(ascii: ".")), Self.isDotted(text.utf8[...], also: UInt8(ascii: "_")) else {
            return nil
        }
        self = .android(package: text, certificate: certificate)
    }

    /// Parses the form in which an app is stored; `nil` for any other text.
    init?(text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        switch (parts.first, parts.count) {
        case ("apple", 2): self.init(apple: parts[1])
        case ("android", 3):
            guard let certificate = Base64URL.decode(parts[2].utf8).flatMap({ Digest256($0) }) else { return nil }
            self.init(package: parts[1], certificate: certificate)
        default: return nil
        }
    }

    /// The app as operators type and read it: the digest is hexadecimal, as in keytool's output.
    var shown: String {
        switch self {
        case .apple: text
        case .android(let package, let certificate):
            "android:\(package):"
                + certificate.bytes.map { byte in
                    let digits = String(byte, radix: 16)
                    return digits.utf8.count == 1 ? "0" + digits : digits
                }.joined()
        }
    }

    /// The app in one text, by which it is stored.
    var text: String {
        switch self {
        case .apple(let name): "apple:\(name)"
        case .android(let package, let certificate): "android:\(package):\(certificate.base64URL)"
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// Whether a text consists of parts of letters, digits and one more character, with single dots between them.
    private static func isDotted(_ text: Substring.UTF8View, also: UInt8) -> Bool {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.count <= 200
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.allSatisfy { isDigit($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == also }
            }
    }
}
