import SwiftASN1
import X509

extension Certificate {
    /// Reads a certificate of somebody else in DER, with what RFC 5280 §4.1.1 requires of the two parts that no signature
    /// covers: the algorithm equals the signed one, and the signature has no unused bits. Otherwise one certificate would
    /// have several spellings.
    init(strictDER bytes: [UInt8]) throws {
        let root = try DER.parse(bytes)
        try self.init(derEncoded: root)
        let isStrict = try DER.sequence(root, identifier: .sequence) { parts in
            guard let signed = parts.next(), let algorithm = parts.next(), let signature = parts.next() else {
                return false
            }
            return try Self.algorithm(in: signed) == algorithm.encodedBytes
                && ASN1BitString(derEncoded: signature).paddingBits == 0
        }
        guard isStrict else {
            throw ASN1Error.invalidASN1Object(reason: "the algorithm or the signature is not that of the signed part")
        }
    }

    /// The signature's algorithm, the first sequence of what is signed.
    private static func algorithm(in signed: ASN1Node) throws -> ArraySlice<UInt8>? {
        try DER.sequence(signed, identifier: .sequence) { parts in
            var found: ArraySlice<UInt8>?
            while let part = parts.next() {
                if found == nil, part.identifier == .sequence { found = part.encodedBytes }
            }
            return found
        }
    }
}
