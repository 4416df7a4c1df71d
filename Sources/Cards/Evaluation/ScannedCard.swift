import Domain
import Encoding

/// A card with the data of its own format: header and conformance, or check digits. Rules switch over the formats, so
/// a new format does not compile until each rule handles it.
package enum ScannedCard: Sendable, Equatable, Confidential {
    case aamva(AAMVACard)
    /// From the tracks of a magnetic stripe, which some barcodes contain.
    case stripe(MagneticStripe)
    /// From a machine readable zone.
    case machineReadable(MachineReadableZone)
    /// From a credential in a wallet, whose issuer and holder are verified.
    case presented(IdentityCard)

    /// The issuer's signature after its verification by pinned keys. Of what is scanned, only a barcode of elements has one.
    func signature(verifiedBy keys: [BarcodeKey]) -> IssuerSignature {
        switch self {
        case .aamva(let card): card.signature(verifiedBy: keys)
        case .stripe, .machineReadable: IssuerSignature(.none)
        case .presented(let card): card.issuerSignature
        }
    }

    /// The missing ones of number, birthday, expiry and name, in the terms of the card's format.
    var missing: [String] {
        let card: IdentityCard
        switch self {
        case .aamva(let barcode): return barcode.missingElements
        case .stripe(let stripe): card = stripe.identityCard
        case .machineReadable(let zone): card = zone.identityCard
        case .presented(let presented): card = presented
        }
        let required = [
            ("number", card.normalisedNumber.isEmpty), ("birthday", card.dateOfBirth == nil),
            ("expiry", card.expiresOn == nil), ("name", NameFolding.folded(card.name.full).isEmpty),
        ]
        return required.filter(\.1).map(\.0)
    }
}

package extension ScannedCard {
    /// Parses the bytes of a PDF417 barcode in any of its formats.
    ///
    /// - Throws: `Refusal` `malformed_request`.
    static func read(barcode bytes: [UInt8], today: CalendarDate) throws(Refusal) -> ScannedCard {
        guard bytes.count <= AAMVACard.maximumLength else {
            throw Refusal.barcodeTooLong(allowed: AAMVACard.maximumLength)
        }
        // Base64 hides it from the rule for the text of a request. Names with 3,700 marks took 60 ms.
        guard String(decoding: bytes, as: UTF8.self).isStreamSafe else { throw Refusal.barcodeNotStreamSafe }
        return MagneticStripe.begins(bytes)
            ? .stripe(try MagneticStripe.read(bytes, today: today)) : .aamva(try AAMVACard.read(bytes))
    }

    var identityCard: IdentityCard {
        switch self {
        case .aamva(let card): card.identityCard
        case .stripe(let stripe): stripe.identityCard
        case .machineReadable(let zone): zone.identityCard
        case .presented(let card): card
        }
    }
}
