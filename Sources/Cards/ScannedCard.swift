import Identity

/// A card together with what only its own form can tell: header and conformance, or check digits.
public enum ScannedCard: Sendable, Equatable, Confidential {
    /// From a PDF417 barcode.
    case aamva(AAMVACard)
    /// From a machine readable zone.
    case machineReadable(MachineReadableZone)

    /// What the card says.
    public var identityCard: IdentityCard {
        switch self {
        case .aamva(let card): card.identityCard
        case .machineReadable(let zone): zone.identityCard
        }
    }

    /// The AAMVA card, if it is one.
    var aamva: AAMVACard? {
        if case .aamva(let card) = self { card } else { nil }
    }
}
