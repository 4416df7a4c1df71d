import Domain
import Encoding
import Foundation

/// A provider's Security Event Token with a valid signature and claims, about one of its own users.
package struct ProviderEventToken: Sendable, Equatable {
    /// The provider that sent it (`iss`).
    package let provider: ProviderID
    /// Its id (`jti`), 1 to 128 bytes. Each id takes effect once for each provider.
    package let identifier: String
    /// How long its id must be remembered.
    package let rememberUntil: Date
    package let subject: Subject
    package let effect: Effect
}

package extension ProviderEventToken {
    /// The subjects that a provider's event may have.
    enum Subject: Sendable, Equatable {
        /// One session, by the id that introspection returns.
        case session(SessionID)
        /// Every session of a user, by the provider's own id.
        case user(String)
        /// Every session of a user, by the id here.
        case knownUser(UserID)
        /// No user or session of this service: a stream of the provider's, or the subject of an event without effect
        /// here.
        case nobody
    }

    /// The effect of an event on sessions.
    enum Effect: Sendable, Equatable {
        /// Sessions end: they were revoked there, or the account was disabled.
        case endsSessions
        /// Sessions are challenged: a credential was updated, revoked or deleted, and the user must sign in again.
        case challengesSessions
        /// None: a credential was created, the event is about the provider's stream, or the event is unknown here.
        case none
    }
}

extension UnverifiedToken {
    /// Parses an event token, except for what the rules of `verifyEvent` report.
    ///
    /// - Throws: `Refusal` `provider_token_invalid` with reason `malformed`.
    package init(event compact: String) throws(Refusal) {
        do throws(TokenDefect) {
            try self.init(reading: compact)
        } catch {
            throw Refusal.invalidProviderToken(error.detail, reason: error.reason)
        }
    }
}

extension ProviderTokenVerifier {
    /// The largest age of a provider's event, seconds. Events may arrive late, if this service was unreachable.
    static let maximumEventAge: TimeInterval = 3600

    /// Verifies an event token: `typ` `secevent+jwt`, `kid`, `iss`, `aud`, `iat` within an hour, `jti` and `sub_id`, no
    /// `sub` and no `exp` (RFC 8417 §2.2). Earlier drafts' `subject` in the event is accepted instead of `sub_id`.
    /// CAEP's session-revoked and credential-change and RISC's account-disabled have an effect. Others have none, since
    /// receivers ignore what they do not know.
    ///
    /// - Parameter audiences: what `aud` may name: the realm, and the issuer.
    /// - Throws: `Refusal` `provider_token_invalid` with a reason; its sentence names the defect.
    package func verifyEvent(
        _ token: UnverifiedToken, audiences: [String], provider: Provider?, key: RegisteredKey?, now: Date
    ) throws(Refusal) -> ProviderEventToken {
        let input = TokenRule.Input(token: token, profile: .event, provider: provider, key: key)
        for rule in TokenRule.all {
            if let defect = rule.defect(input) { throw Self.refusal(defect) }
        }
        let (provider, _) = try input.requireTrust(refusing: .providerTokenInvalid)
        var claims = ClaimReader(token.payload)
        let identifier = claims.text("jti", bytes: 1...128)
        claims.audience(among: audiences, required: true)
        let issuedAt = claims.issued(now: now, clockSkew: clockSkew, maximumAge: Self.maximumEventAge)
        for name in ["sub", "exp"] where claims.has(name) {
            claims.note(.malformed, "The claim \(name) must not be in a Security Event Token.")
        }
        let events = Self.events(token.payload["events"], &claims)
        let (effect, details) = Self.effect(of: events, &claims)
        let named = token.payload["sub_id"] ?? details?["subject"]
        let subject: ProviderEventToken.Subject? =
            if Self.isAboutStream(events) {
                Self.stream(named)
            } else if details == nil {
                .nobody
            } else {
                Self.subject(named, of: provider.id, audiences)
            }
        if subject == nil {
            claims.note(
                .malformed,
                "The claim sub_id must be iss_sub (iss your provider id, sub your user's id; or the issuer's with ours),"
                    + " email (your user's id), opaque (id a session's), or complex of these.")
        }
        if let defect = claims.defects.first { throw Self.refusal(defect) }
        guard let subject else { throw Refusal.eventWithoutSubject }
        return ProviderEventToken(
            provider: provider.id, identifier: identifier,
            rememberUntil: issuedAt.addingTimeInterval(Self.maximumEventAge + clockSkew), subject: subject,
            effect: effect)
    }

    /// RFC 8935 §2.4 has error codes for some defects.
    private static func refusal(_ defect: TokenDefect) -> Refusal {
        Refusal.invalidProviderToken(defect.detail, reason: defect.reason)
    }

    /// `events`: an object with at least one event, each of which is an object (RFC 8417 §2.2).
    private static func events(_ value: JSONValue?, _ claims: inout ClaimReader) -> JSONValue? {
        guard let value else {
            claims.note(.missingClaim, "The claim events is missing. It must have the event's URI and details.")
            return nil
        }
        guard case .object(let events) = value, !events.isEmpty,
            events.allSatisfy({ if case .object = $0.value { true } else { false } })
        else {
            claims.note(.malformed, "The claim events is not an object with an object for each event.")
            return nil
        }
        return value
    }

    /// - Returns: the effect, and the details of an event that is known here.
    private static func effect(
        of events: JSONValue?, _ claims: inout ClaimReader
    ) -> (effect: ProviderEventToken.Effect, details: JSONValue?) {
        for type in [ProviderEvent.accountDisabledType, ProviderEvent.sessionRevokedType] {
            if let details = events?[type] { return (.endsSessions, details) }
        }
        if isAboutStream(events) {
            // This service requests no verification, so no state can be its own.
            let state = events?[StreamEvent.verificationType]?["state"]
            guard state != nil, state != .null else { return (.none, nil) }
            claims.note(.unexpectedState, "The verification has a state: this service asked for none.")
            return (.none, nil)
        }
        guard let details = events?[ProviderEvent.credentialChangeType] else { return (.none, nil) }
        switch details["change_type"]?.text {
        case "create": return (.none, details)
        case "update", "revoke", "delete": return (.challengesSessions, details)
        default:
            claims.note(.malformed, "change_type of a credential-change must be create, update, revoke or delete.")
            return (.none, details)
        }
    }

    /// Whether an event is about the stream that carries it (SSF 1.0 §8.1.4 and §8.1.5), not about a user.
    private static func isAboutStream(_ events: JSONValue?) -> Bool {
        [StreamEvent.verificationType, StreamEvent.updatedType].contains { events?[$0] != nil }
    }

    private static func stream(_ value: JSONValue?) -> ProviderEventToken.Subject? {
        value?["format"]?.text == "opaque" && value?["id"]?.text?.isEmpty == false
            ? .nobody : nil
    }

    private static func subject(
        _ value: JSONValue?, of provider: ProviderID, _ issuers: [String]
    ) -> ProviderEventToken.Subject? {
        switch value?["format"]?.text {
        case "iss_sub":
            guard let user = value?["sub"]?.text, (1...256).contains(user.utf8.count), !user.utf8.contains(0) else {
                return nil
            }
            if value?["iss"]?.text.flatMap({ ProviderID($0[...]) }) == provider { return .user(user) }
            guard let issuer = value?["iss"]?.text, issuers.contains(issuer) else { return nil }
            return UserID(user[...]).map { .knownUser($0) }
        case "email":
            guard let user = value?["email"]?.text, (1...256).contains(user.utf8.count), !user.utf8.contains(0) else {
                return nil
            }
            return .user(user)
        case "opaque": return value?["id"]?.text.flatMap { SessionID($0[...]) }.map { .session($0) }
        case "complex":
            return subject(value?["session"], of: provider, issuers) ?? subject(value?["user"], of: provider, issuers)
        default: return nil
        }
    }
}
