import Domain
import Foundation

/// What one kind of token must be like before and beyond its claims: the differences between the kinds, as values.
struct TokenProfile: Sendable {
    /// The kind's `cty`, without spaces; `nil` if it is not looked at.
    let contentType: String?
    /// Whether `typ` must be there.
    let requiresType: Bool
    /// What it is, if it is there.
    var types = ["JWS", "JWT"]
    /// Whether `aud` must be there; if it is, it names the realm in any kind.
    let requiresAudience: Bool
    /// The most that `exp − iat` may be, in seconds.
    let maximumLifetime: TimeInterval

    /// The token that opens a session; its lifetime is the operator's, 24 hours at most.
    static func identity(maximumLifetime: TimeInterval) -> TokenProfile {
        TokenProfile(
            contentType: "layer-eit;v=1", requiresType: true, requiresAudience: false,
            maximumLifetime: min(maximumLifetime, 86_400))
    }

    /// A backend's bearer token for reading.
    static let provider = TokenProfile(
        contentType: "layer-provider;v=1", requiresType: false, requiresAudience: true, maximumLifetime: 3600)

    /// A backend's token for one call that changes something.
    static let freshProvider = TokenProfile(
        contentType: "layer-provider;v=1", requiresType: false, requiresAudience: true, maximumLifetime: 60)

    /// A device's leave to be certified.
    static let enrolment = TokenProfile(
        contentType: "layer-enrolment;v=1", requiresType: false, requiresAudience: true, maximumLifetime: 600)

    /// The proof that comes with a new key.
    static let keyPossession = TokenProfile(
        contentType: nil, requiresType: false, requiresAudience: false, maximumLifetime: 600)

    /// What a provider tells of its users (RFC 8417 §2.3); `exp` is not claimed, ``maximumLifetime`` counts from `iat`.
    static let event = TokenProfile(
        contentType: nil, requiresType: true, types: ["secevent+jwt"], requiresAudience: true, maximumLifetime: 3600)

    /// The proof that a user is present at a device; `exp` is not claimed, ``maximumLifetime`` counts from `iat`.
    static let presence = TokenProfile(
        contentType: "layer-presence;v=1", requiresType: false, requiresAudience: false, maximumLifetime: 300)
}
