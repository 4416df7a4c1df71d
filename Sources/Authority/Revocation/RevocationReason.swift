/// Why a certificate was revoked, RFC 5280 §5.3.1, spelled as there.
///
/// `removeFromCRL` is left out because it stands in delta lists only, and `certificateHold` because a revocation is
/// final here: a device that may come back certifies again.
package enum RevocationReason: String, Sendable, CaseIterable, Codable {
    /// Nothing is known; such an entry carries no reason.
    case unspecified
    /// The device's private key is in other hands.
    case keyCompromise
    /// The authority's private key is in other hands.
    case cACompromise
    /// The holder's name or other facts changed.
    case affiliationChanged
    /// Another certificate took its place.
    case superseded
    /// The device is no longer in use.
    case cessationOfOperation
    case privilegeWithdrawn
    /// The attribute authority's key is in other hands.
    case aACompromise

    /// Whether somebody else may hold a key, so that nothing which that key asked for can be trusted.
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
