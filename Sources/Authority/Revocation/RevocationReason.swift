/// The reason of a revocation, in the terms of RFC 5280 §5.3.1.
///
/// `removeFromCRL` is omitted because only delta lists have it. `certificateHold` is omitted because a revocation is
/// final here: a device that returns must certify again.
package enum RevocationReason: String, Sendable, CaseIterable, Codable {
    /// No reason is known; such a list entry has no reason extension.
    case unspecified
    /// The device's private key was disclosed.
    case keyCompromise
    /// The authority's private key was disclosed.
    case cACompromise
    /// The holder's name or other facts changed.
    case affiliationChanged
    /// A newer certificate replaced this one.
    case superseded
    case cessationOfOperation
    case privilegeWithdrawn
    /// The attribute authority's key was disclosed.
    case aACompromise

    /// Whether a key may be in other hands, so that nothing requested with it can be trusted.
    package var isCompromise: Bool { [.keyCompromise, .cACompromise, .aACompromise].contains(self) }

    /// The value of `CRLReason`; 7 is unassigned.
    var code: UInt8 {
        switch self {
        case .unspecified: 0
        case .keyCompromise: 1
        case .cACompromise: 2
        case .affiliationChanged: 3
        case .superseded: 4
        case .cessationOfOperation: 5
        case .privilegeWithdrawn: 9
        case .aACompromise: 10
        }
    }
}
