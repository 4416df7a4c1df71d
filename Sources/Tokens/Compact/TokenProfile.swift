import Domain
import Foundation

/// The requirements of one kind of token, except for its own claims.
struct TokenProfile: Sendable {
    /// The kind's `cty`, without spaces; `nil` if it is not checked.
    let contentType: String?
    /// Whether a token without `typ` is refused.
    let requiresType: Bool
    /// The accepted values of `typ`, if it is present.
    var types = TokenHeader.usualTypes
    /// Whether `aud` is required. If present, it must name the realm in any kind of token.
    let requiresAudience: Bool
    /// The largest `exp − iat`, in seconds.
    let maximumLifetime: TimeInterval

    /// The token that opens a session. The operator sets its lifetime, 24 hours at most.
    ///
    /// - Parameter isGrant: the token endpoint requires `aud` (RFC 7523 §3).
    static func identity(maximumLifetime: TimeInterval, isGrant: Bool = false) -> TokenProfile {
        TokenProfile(
            contentType: "layer-eit;v=1", requiresType: true, requiresAudience: isGrant,
            maximumLifetime: min(maximumLifetime, 86_400))
    }

    /// A backend's bearer token for reads.
    static let provider = TokenProfile(
        contentType: "layer-provider;v=1", requiresType: false, requiresAudience: true, maximumLifetime: 3600)

    /// A backend's token for one call that makes a change.
    static let freshProvider = TokenProfile(
        contentType: "layer-provider;v=1", requiresType: false, requiresAudience: true, maximumLifetime: 60)

    /// A provider's permission to certify a device.
    static let enrolment = TokenProfile(
        contentType: "layer-enrolment;v=1", requiresType: false, requiresAudience: true, maximumLifetime: 600)

    /// A backend's proof of itself in a form (RFC 7523 §2.2). Its age is checked in addition to its lifetime.
    static let clientAssertion = TokenProfile(
        contentType: nil, requiresType: false, types: ["JWT", "client-authentication+jwt"], requiresAudience: true,
        maximumLifetime: 3600)

    /// The proof of possession for a new key.
    static let keyPossession = TokenProfile(
        contentType: nil, requiresType: false, requiresAudience: false, maximumLifetime: 600)

    /// A provider's event about its users (RFC 8417 §2.3). There is no `exp`; ``maximumLifetime`` is measured from
    /// `iat`.
    static let event = TokenProfile(
        contentType: nil, requiresType: true, types: ["secevent+jwt"], requiresAudience: true, maximumLifetime: 3600)

    /// The proof that a user is present at a device. There is no `exp`; ``maximumLifetime`` is measured from `iat`.
    static let presence = TokenProfile(
        contentType: "layer-presence;v=1", requiresType: false, requiresAudience: false, maximumLifetime: 300)
}
