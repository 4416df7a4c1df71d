import Crypto
import Encoding

/// A key with which an issuer signs barcodes, as `cards.yaml` pins it. The entry has three parts, separated by blanks:
/// the issuer's two letters, the name of the key in the issuer's DID document, and the key in that document's form
/// (`publicKeyMultibase`).
package struct BarcodeKey: Sendable {
    /// The state, territory or province whose cards the key signs.
    let jurisdiction: String
    /// The DID URL by which a credential names the key.
    let verificationMethod: String
    let key: P256.Signing.PublicKey

    /// The multicodec prefix of a P-256 key.
    private static let prefix: [UInt8] = [0x80, 0x24]

    /// Parses an entry of the policy; `nil` for anything else. So far issuers use only P-256.
    package init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, Jurisdiction.of(code: String(parts[0])) != nil, parts[1].utf8.starts(with: "did:".utf8),
            parts[2].utf8.first == UInt8(ascii: "z"), let bytes = Base58.decode(parts[2].dropFirst()),
            bytes.starts(with: Self.prefix),
            let key = try? P256.Signing.PublicKey(compressedRepresentation: bytes.dropFirst(Self.prefix.count))
        else { return nil }
        jurisdiction = String(parts[0])
        verificationMethod = String(parts[1])
        self.key = key
    }
}
