import Domain
import Encoding
import Foundation

/// An identity token, or an ID token in its place, whose signature and claims are valid. Only
/// ``IdentityTokenVerifier`` and ``IDTokenVerifier`` create one.
///
/// Its nonce is not checked yet: the transaction that spends it does that in the store.
package struct IdentityToken: Sendable, Equatable {
    /// The provider that issued it (`iss`).
    package let provider: ProviderID
    /// The provider's own id of the user (`prn` or `sub`), 1 to 256 bytes without hidden characters.
    package let externalID: String
    /// The nonce that the device requested (`nce`, of an ID token `nonce`), as in the token.
    package let nonce: String
    /// When the token was issued (`iat`).
    let issuedAt: Date
    /// When the token expires (`exp`).
    let expiresAt: Date
    /// The app that it is for (`app_id`); must equal the request's.
    package let applicationID: ApplicationID?
    /// The user's name for display (`display_name`, of an ID token `name`), 1 to 256 bytes.
    package let displayName: String?
    /// The user's picture (`avatar_url`, of an ID token `picture`): https, on a host that the provider registered.
    package let avatarURL: String?
    /// The client that requested an ID token (`azp`); `nil` if it does not say.
    package let party: String?
    /// The claims about the user that were left out.
    package let ignored: [IgnoredClaim]
    /// The key that signed (`kid`).
    package let keyID: ProviderKeyID

    /// Takes claims without a defect, and the provider and key that verification found.
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
        party = claims.party
        ignored = claims.ignored
    }
}

/// The parsed claims of an identity token. They must not be used if the reader recorded a defect.
struct IdentityClaims {
    let externalID: String
    let nonce: String
    let validity: ClaimReader.Validity
    let applicationID: ApplicationID?
    let displayName: String?
    let avatarURL: String?
    let party: String?
    let ignored: [IgnoredClaim]

    init(from claims: inout ClaimReader, provider: Provider, verifier: IdentityTokenVerifier, now: Date) {
        if provider.issuer != nil {
            claims.note(.unknownIssuer, "The provider that iss names signs users in only with its issuer's ID tokens.")
        }
        externalID = claims.subject(bytes: 1...256)
        nonce = claims.text("nce", bytes: 1...256)
        validity = claims.validity(
            now: now, clockSkew: verifier.clockSkew, maximumLifetime: verifier.maximumLifetime)
        claims.audience(among: [verifier.realm] + verifier.endpoints, required: verifier.profile.requiresAudience)
        if verifier.isGrant, !claims.has("sub") {
            claims.note(.missingClaim, "The claim sub is missing. An assertion must name its subject.")
        }
        let application = claims.optionalText("app_id", bytes: 1...64)
        applicationID = application.flatMap { ApplicationID($0) }
        if application != nil, applicationID == nil { claims.note(.malformed, "The claim app_id is not an app's id.") }
        displayName = claims.displayName("display_name")
        avatarURL = claims.avatar("avatar_url", of: provider)
        party = nil
        ignored = claims.ignored
    }
}

extension ClaimReader {
    /// The user's name for display.
    mutating func displayName(_ name: String) -> String? {
        description(name, bytes: 1...256, for: .prose) { PlainText.isBlank($0) ? "is blank" : nil }
    }

    /// The URL of the user's picture, on a host that the provider registered.
    mutating func avatar(_ name: String, of provider: Provider) -> String? {
        description(name, bytes: 1...AvatarURL.maximumLength) {
            AvatarURL.objection(to: $0, hosts: provider.avatarHosts)
        }
    }
}

/// All defects of a token at once, for its developer.
package struct TokenCheck: Sendable, Equatable {
    /// In the order of the checks; empty if the token could open a session (nonce apart).
    package var defects: [TokenDefect]
    /// How far the provider's clock is ahead of this server's: `iat` − now in whole seconds. `nil` without `iat`.
    package let clockSkew: Int?
    /// The claims about the user that were left out. They are not defects.
    package let ignored: [IgnoredClaim]
    /// The nonce in the token, so that the caller can look up whether it is spent; `nil` if there is none.
    package let nonce: String?

    init(defects: [TokenDefect], clockSkew: Int?, nonce: String?, ignored: [IgnoredClaim] = []) {
        (self.defects, self.clockSkew, self.nonce, self.ignored) = (defects, clockSkew, nonce, ignored)
    }

    /// Measures the clock by the token's `iat`.
    init(defects: [TokenDefect], issuedAt token: UnverifiedToken, _ identity: IdentityClaims, now: Date) {
        var silent = ClaimReader(token.payload)
        let issuedAt = silent.date("iat", required: false)
        self.init(
            defects: defects,
            // Most tokens have whole seconds, so a part of a second is ignored.
            clockSkew: issuedAt.map { Int(saturating: $0.timeIntervalSince(now).rounded(.towardZero)) },
            nonce: identity.nonce.isEmpty ? nil : identity.nonce, ignored: identity.ignored)
    }
}

/// The URL of a user's picture (RFC 3986). Accepted are `https` URLs on a registered host that all parsers of URLs
/// understand alike.
enum AvatarURL {
    /// Longer ones are refused, in bytes.
    static let maximumLength = 2048

    /// Why a URL is refused, in words; `nil` if it is accepted.
    static func objection(to text: String, hosts: [String]) -> String? {
        let prefix = "https://"
        guard text.hasPrefix(prefix) else { return "does not begin with https://" }
        let forbidden: Set<UInt8> = Set(#"\"<>^`{|}"#.utf8)
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !forbidden.contains($0) }) else {
            return "contains a character that must be escaped in a URL"
        }
        let authority = text.utf8.dropFirst(prefix.utf8.count).prefix { !"/?#".utf8.contains($0) }
        let host = String(decoding: authority, as: UTF8.self).lowercased()
        guard hosts.contains(where: { $0.lowercased() == host }) else {
            return "is not on a host that the provider registered"
        }
        return nil
    }
}
