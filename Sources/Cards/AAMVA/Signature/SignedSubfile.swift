import Domain
import Encoding

/// Where a barcode carries its issuer's credential: the element `ZZA` in the subfile `ZZ`, as W3C Verifiable Credential
/// Barcodes 1.0 has it in its test vectors, or `ZCE` in California's own subfile `ZC`, as the guide of its DMV of
/// December 2025 says.
///
/// A defect here refuses no card. Most cards have no credential and are read as well, so a forger would leave it out.
enum SignedSubfile {
    /// The longest text of a credential, bytes. Those of both publications have under 250.
    static let maximumLength = 1024

    private static let type = SubfileType(UInt8(ascii: "Z"), UInt8(ascii: "Z"))
    private static let standard = ElementID("ZZA")
    /// Other issuers of the letter C may use this element for something else.
    private static let california = ElementID("ZCE")

    /// What the elements of a barcode say of the issuer's signature.
    static func signature(
        in elements: AAMVAElements, of bytes: [UInt8], header: AAMVAHeader, issuer: Issuer?
    ) -> IssuerSignature {
        let isCalifornian = issuer?.jurisdiction?.code == "CA"
        let texts = elements.all.filter { $0.id == standard || (isCalifornian && $0.id == california) }
        guard let text = texts.first else {
            let isAnnounced = header.designators.contains { $0.type == type }
            return IssuerSignature(isAnnounced || elements.all.contains { $0.subfile == type } ? .unreadable : .none)
        }
        // Of two credentials none is the card's.
        guard texts.count == 1, let credential = decode(bytes[text.value]) else { return IssuerSignature(.unreadable) }
        return IssuerSignature(.present, credential: credential)
    }

    /// The credential's bytes; `nil` if the text is no base64 or its content is no CBOR-LD.
    private static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count <= maximumLength else { return nil }
        // Both publications write base64, the specification also base64url, and all of them padding where it is due.
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

    /// The tags of CBOR-LD: that of version 1.0, and the range of version 0.7, in which the low byte is, or begins, the
    /// number of the compression table.
    private static func isCompressedDocument(_ tag: UInt64) -> Bool {
        tag == 0xCB1D || (0x0600...0x06FF).contains(tag)
    }
}
