import Domain
import Encoding

/// The element of a barcode that contains its issuer's credential: `ZZA` in the subfile `ZZ`, or `ZCE` in California's
/// own subfile `ZC`. The first is used by the test vectors of W3C Verifiable Credential Barcodes 1.0, the second by the
/// guide of California's DMV of December 2025.
///
/// A defect here refuses no card. Most cards have no credential and are accepted as well, so a forger would leave it
/// out.
enum SignedSubfile {
    /// The longest text of a credential, in bytes. Those of both publications have under 250.
    static let maximumLength = 1024

    private static let type = SubfileType(UInt8(ascii: "Z"), UInt8(ascii: "Z"))
    private static let standard = ElementID("ZZA")
    /// Other issuers of the letter C may use this element for something else.
    private static let california = ElementID("ZCE")

    /// The state of the issuer's signature in the elements of a barcode.
    static func signature(
        in elements: AAMVAElements, of bytes: [UInt8], header: AAMVAHeader, issuer: Issuer?
    ) -> IssuerSignature {
        let isCalifornian = issuer?.jurisdiction?.code == "CA"
        let texts = elements.all.filter { $0.id == standard || (isCalifornian && $0.id == california) }
        guard let text = texts.first else {
            let isAnnounced = header.designators.contains { $0.type == type }
            return IssuerSignature(isAnnounced || elements.all.contains { $0.subfile == type } ? .unreadable : .none)
        }
        // If there are two credentials, neither is valid for the card.
        guard texts.count == 1, let credential = decode(bytes[text.value]) else { return IssuerSignature(.unreadable) }
        return IssuerSignature(.present, credential: credential)
    }

    /// The credential's bytes; `nil` if the text is not base64 or its content is not CBOR-LD.
    private static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count <= maximumLength else { return nil }
        // Both publications write base64, the specification also base64url, and all of them the required padding.
        let unpadded = text.prefix { $0 != UInt8(ascii: "=") }
        let padding = text[unpadded.endIndex...]
        guard padding.count <= 2, padding.allSatisfy({ $0 == UInt8(ascii: "=") }) else { return nil }
        let characters = unpadded.map { character in
            switch character {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: character
            }
        }
        guard let bytes = Base64URL.decode(characters), let value = try? CBORReader.read(bytes[...]),
            case .tagged(let tag) = value, isCompressedDocument(tag.number)
        else { return nil }
        return bytes
    }

    /// The tags of CBOR-LD: the tag of version 1.0, and the range of version 0.7. In that range the low byte of the tag
    /// is the number of the compression table, or begins it.
    private static func isCompressedDocument(_ tag: UInt64) -> Bool {
        tag == 0xCB1D || (0x0600...0x06FF).contains(tag)
    }
}
