import Domain
import Foundation

/// An identity token whose signature and claims hold. Only ``IdentityTokenVerifier`` makes one.
///
/// Its nonce is not judged yet: that takes the store, in the transaction that spends it.
public struct IdentityToken: Sendable, Equatable {
    /// Who vouches (`iss`).
    public let provider: ProviderID
    /// The provider's own name for the user (`prn` or `sub`), 1 to 256 bytes without hidden characters.
    public let externalID: String
    /// The nonce that the device asked for (`nce`), as the token carries it.
    public let nonce: String
    /// When the token was made (`iat`).
    public let issuedAt: Date
    /// Until when it counts (`exp`).
    public let expiresAt: Date
    /// The app that it is for (`app_id`); must equal the request's.
    public let applicationID: ApplicationID?
    /// What to call the user (`display_name`), 1 to 256 bytes.
    public let displayName: String?
    /// The user's picture (`avatar_url`): https, on a host that the provider registered.
    public let avatarURL: String?
    /// The key that signed (`kid`).
    public let keyID: ProviderKeyID

    /// Joins what verification found: claims without a defect, and whose key the signature is.
    init(_ claims: IdentityClaims, provider: ProviderID, keyID: ProviderKeyID) {
        self.provider = provider
        self.keyID = keyID
        externalID = claims.externalID
        nonce = claims.nonce
        issuedAt = claims.validity.issuedAt
        expiresAt = claims.validity.expiresAt
        applicationID = claims.applicationID
        displayName = claims.displayName
        avatarURL = claims.avatarURL
    }
}

/// The claims of an identity token as read. They are to be used only where the reader kept no defect.
struct IdentityClaims {
    let externalID: String
    let nonce: String
    let validity: ClaimReader.Validity
    let applicationID: ApplicationID?
    let displayName: String?
    let avatarURL: String?

    init(from claims: inout ClaimReader, provider: Provider, verifier: IdentityTokenVerifier, now: Date) {
        externalID = claims.subject(bytes: 1...256)
        nonce = claims.text("nce", bytes: 1...256)
        validity = claims.validity(
            now: now, clockSkew: verifier.clockSkew, maximumLifetime: verifier.maximumLifetime)
        claims.audience(realm: verifier.realm, required: verifier.profile.requiresAudience)
        let application = claims.optionalText("app_id", bytes: 1...64)
        applicationID = application.flatMap { ApplicationID($0) }
        if application != nil, applicationID == nil { claims.note(.malformed, "The claim app_id is not an app's id.") }
        displayName = claims.optionalText("display_name", bytes: 1...256, for: .prose)
        avatarURL = claims.optionalText("avatar_url", bytes: 1...AvatarURL.maximumLength)
        if let objection = avatarURL.flatMap({ AvatarURL.objection(to: $0, hosts: provider.avatarHosts) }) {
            claims.note(.malformed, "The claim avatar_url \(objection).")
        }
    }
}

/// What is wrong with a token, for the developer who made it: every defect at once.
public struct TokenCheck: Sendable, Equatable {
    /// In the order in which they would be met; empty where a session could be opened (nonce apart).
    public var defects: [TokenDefect]
    /// How far the provider's clock is ahead of this server's, `iat` − now in whole seconds; `nil` without `iat`.
    public let clockSkew: Int?
    /// The nonce in the token, for whoever can say how it stands; `nil` where there is none.
    public let nonce: String?
}
