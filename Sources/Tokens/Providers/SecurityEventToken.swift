import Crypto
import Domain
import Encoding
import Foundation

/// A Security Event Token (RFC 8417) that notifies a provider of an event about one of its users.
///
/// The subject is the provider's own id of the user (`iss_sub`, RFC 9493 §3.2.5), with the provider's id as issuer. A
/// session is named together with its user in a complex subject (§3.3).
package struct SecurityEventToken: Sendable {
    /// Its id (`jti`), the same at every attempt, so that a receiver recognizes repetitions.
    package let identifier: String
    /// The service's realm (`iss`).
    package let realm: String
    /// The receiving provider (`aud`).
    package let provider: ProviderID
    /// The provider's own id of the user.
    package let externalID: String
    package let event: ProviderEvent
    /// When the event happened (`toe`).
    package let happenedAt: Date

    package init(
        identifier: String, realm: String, provider: ProviderID, externalID: String, event: ProviderEvent,
        happenedAt: Date
    ) {
        self.identifier = identifier
        self.realm = realm
        self.provider = provider
        self.externalID = externalID
        self.event = event
        self.happenedAt = happenedAt
    }

    /// The compact JWS, ES256.
    ///
    /// - Parameter keyID: the `kid` under which the service publishes the key.
    package func signed(with key: P256.Signing.PrivateKey, keyID: String, now: Date) throws -> String {
        let header = JSONValue.object(["alg": .string("ES256"), "kid": .string(keyID), "typ": .string("secevent+jwt")])
        let payload = JSONValue.object([
            "iss": .string(realm), "aud": .string(provider.description), "jti": .string(identifier),
            "iat": .integer(Int64(now.timeIntervalSince1970)), "toe": .integer(Int64(happenedAt.timeIntervalSince1970)),
            "sub_id": subject, "events": .object([JSONMember(name: event.type, value: details)]),
        ])
        let input =
            Base64URL.encode(Array(header.jsonText.utf8)) + "." + Base64URL.encode(Array(payload.jsonText.utf8))
        let signature = try key.signature(for: Data(input.utf8))
        return input + "." + Base64URL.encode(Array(signature.rawRepresentation))
    }

    private var subject: JSONValue {
        let user = JSONValue.object([
            "format": .string("iss_sub"), "iss": .string(provider.description), "sub": .string(externalID),
        ])
        guard case .sessionRevoked(let session) = event else { return user }
        return JSONValue.object([
            "format": .string("complex"), "user": user,
            "session": JSONValue.object(["format": .string("opaque"), "id": .string(session.description)]),
        ])
    }

    private var details: JSONValue {
        let moment = JSONValue.integer(Int64(happenedAt.timeIntervalSince1970))
        guard case .assuranceLevelChanged(let from, let to) = event else {
            return JSONValue.object(["event_timestamp": moment])
        }
        return JSONValue.object([
            "namespace": .string("countersign"), "previous_level": .string(from.rawValue),
            "current_level": .string(to.rawValue), "change_direction": .string(to > from ? "increase" : "decrease"),
            "event_timestamp": moment,
        ])
    }
}

/// A provider's Security Event Token with a valid signature and claims: CAEP's session-revoked.
package struct ProviderEventToken: Sendable, Equatable {
    /// The provider that sent it (`iss`).
    package let provider: ProviderID
    /// Its id (`jti`), 1 to 128 bytes. Each id takes effect once for each provider.
    package let identifier: String
    /// How long its id must be remembered.
    package let rememberUntil: Date
    package let subject: Subject

    /// The subjects that a provider's event may have.
    package enum Subject: Sendable, Equatable {
        /// One session, by the id that introspection returns.
        case session(SessionID)
        /// Every session of a user, by the provider's own id.
        case user(String)
    }
}

extension ProviderTokenVerifier {
    /// The largest age of a provider's event, seconds. Events may arrive late, if this service was unreachable.
    package static let maximumEventAge: TimeInterval = 3600

    /// Verifies an event token: `typ` `secevent+jwt`, `kid`, `iss`, `aud`, `iat` within an hour, `jti` and `sub_id`.
    /// Earlier drafts' `subject` in the event is accepted instead of `sub_id`. `events` must contain CAEP's
    /// session-revoked.
    ///
    /// - Throws: `Refusal` `provider_token_invalid`; its sentence names the defect.
    package func verifyEvent(
        _ token: UnverifiedToken, provider: Provider?, key: RegisteredKey?, now: Date
    ) throws(Refusal) -> ProviderEventToken {
        let input = TokenRule.Input(token: token, profile: .event, provider: provider, key: key)
        let (provider, _) = try input.requireTrust(refusing: .providerTokenInvalid)
        var claims = ClaimReader(token.payload)
        let identifier = claims.text("jti", bytes: 1...128)
        claims.audience(realm: realm, required: true)
        let issuedAt = claims.issued(now: now, clockSkew: clockSkew, maximumAge: Self.maximumEventAge)
        let event = token.payload["events"]?[ProviderEvent.sessionRevokedType]
        if event == nil {
            claims.note(.missingClaim, "The claim events holds no \(ProviderEvent.sessionRevokedType).")
        }
        let subject = Self.subject(token.payload["sub_id"] ?? event?["subject"], of: provider.id)
        if subject == nil {
            claims.note(
                .malformed,
                "The claim sub_id is none of iss_sub (iss your provider id, sub your user's id), opaque (id a session's),"
                    + " or complex of these.")
        }
        if let defect = claims.defects.first { throw defect.refusal(.providerTokenInvalid) }
        guard let subject else { throw Refusal(.providerTokenInvalid, "The claim sub_id names nobody.") }
        return ProviderEventToken(
            provider: provider.id, identifier: identifier,
            rememberUntil: issuedAt.addingTimeInterval(Self.maximumEventAge + clockSkew), subject: subject)
    }

    private static func subject(_ value: JSONValue?, of provider: ProviderID) -> ProviderEventToken.Subject? {
        switch value?["format"]?.text {
        case "iss_sub":
            guard value?["iss"]?.text.flatMap({ ProviderID($0[...]) }) == provider,
                let user = value?["sub"]?.text, (1...256).contains(user.utf8.count), !user.utf8.contains(0)
            else { return nil }
            return .user(user)
        case "opaque": return value?["id"]?.text.flatMap { SessionID($0[...]) }.map { .session($0) }
        case "complex": return subject(value?["session"], of: provider) ?? subject(value?["user"], of: provider)
        default: return nil
        }
    }
}
