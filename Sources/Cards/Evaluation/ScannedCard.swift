import Domain

/// A card together with what only its own format can tell: header and conformance, or check digits. Rules switch over the
/// formats: a new one does not compile until each rule has an answer for it.
package enum ScannedCard: Sendable, Equatable, Confidential {
    case aamva(AAMVACard)
    /// From the tracks of a magnetic stripe, as some barcodes hold them.
    case stripe(MagneticStripe)
    /// From a machine readable zone.
    case machineReadable(MachineReadableZone)

    /// Reads a PDF417 barcode's bytes, whichever of its forms they have.
    ///
    /// - Throws: `Refusal` `malformed_request`.
    package static func read(barcode bytes: [UInt8], today: CalendarDate) throws(Refusal) -> ScannedCard {
        MagneticStripe.begins(bytes)
            ? .stripe(try MagneticStripe.read(bytes, today: today)) : .aamva(try AAMVACard.read(bytes))
    }

    package var identityCard: IdentityCard {
        switch self {
        case .aamva(let card): card.identityCard
        case .stripe(let stripe): stripe.identityCard
        case .machineReadable(let zone): zone.identityCard
        }
    }

    /// What of number, birthday, expiry and a name the card lacks, in the words of its form.
    var missing: [String] {
        let card: IdentityCard
        switch self {
        case .aamva(let barcode): return barcode.missingElements
        case .stripe(let stripe): card = stripe.identityCard
        case .machineReadable(let zone): card = zone.identityCard
        }
        let required = [
            ("number", card.normalisedNumber.isEmpty), ("birthday", card.dateOfBirth == nil),
            ("expiry", card.expiresOn == nil), ("name", NameFolding.folded(card.name.full).isEmpty),
        ]
        return required.filter(\.1).map(\.0)
    }
}
