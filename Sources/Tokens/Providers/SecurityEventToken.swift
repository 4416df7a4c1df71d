import Crypto
import Domain
import Encoding
import Foundation

/// A Security Event Token (RFC 8417) that notifies a provider of an event about one of its users.
///
/// The subject is the provider's own id of the user (`iss_sub`, RFC 9493 §3.2.5), with the provider's id as issuer. A
/// session is named together with its user in a complex subject (§3.3). A test event is about the receiver: an opaque
/// subject (§3.2.7) with the provider's id.
package struct SecurityEventToken: Sendable {
    /// Its id (`jti`), the same at every attempt, so that a receiver recognizes repetitions.
    let identifier: String
    /// The realm of the service (`iss`).
    let realm: String
    /// The provider that receives it (`aud`).
    let provider: ProviderID
    /// The provider's own id of the user; `nil` for an event about the receiver itself.
    let externalID: String?
    let event: StreamEvent
    /// When the event happened (`toe`).
    let happenedAt: Date

    package init(
        identifier: String, realm: String, provider: ProviderID, externalID: String?, event: StreamEvent,
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
        guard let externalID else {
            return JSONValue.object(["format": .string("opaque"), "id": .string(provider.description)])
        }
        let user = JSONValue.object([
            "format": .string("iss_sub"), "iss": .string(provider.description), "sub": .string(externalID),
        ])
        guard case .happened(.sessionRevoked(let session)) = event else { return user }
        return JSONValue.object([
            "format": .string("complex"), "user": user,
            "session": JSONValue.object(["format": .string("opaque"), "id": .string(session.description)]),
        ])
    }

    private var details: JSONValue {
        let moment = JSONValue.integer(Int64(happenedAt.timeIntervalSince1970))
        if case .verification(let state) = event {
            return JSONValue.object(["state": state.map { .string($0) }])
        }
        guard case .happened(.assuranceLevelChanged(let from, let to)) = event else {
            return JSONValue.object(["event_timestamp": moment])
        }
        return JSONValue.object([
            "namespace": .string("countersign"), "previous_level": .string(from.rawValue),
            "current_level": .string(to.rawValue), "change_direction": .string(to > from ? "increase" : "decrease"),
            "event_timestamp": moment,
        ])
    }
}
