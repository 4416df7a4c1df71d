import Domain
import Encoding
import Foundation

/// A Security Event Token (RFC 8417) of a stream, in the form of SSF 1.0, CAEP 1.0 and RISC 1.0.
///
/// It names a user as access tokens do, by the issuer and the user's id here. It has the provider's own id in
/// `external_id`. Nothing in it depends on when it is signed, so it is the same at every attempt.
package struct StreamEventToken: Sendable {
    /// Its id (`jti`), the same at every attempt.
    package let identifier: String
    /// The issuer URL of the service (`iss`).
    let issuer: String
    let stream: EventStream
    let event: StreamEvent
    /// The user whom the event is about; `nil` if it is about the stream.
    let user: User?
    let happenedAt: Date
    /// The change that caused it (`txn`).
    let cause: String

    package init(
        identifier: String, issuer: String, stream: EventStream, event: StreamEvent, user: User?, happenedAt: Date,
        cause: String
    ) {
        self.identifier = identifier
        self.issuer = issuer
        self.stream = stream
        self.event = event
        self.user = user
        self.happenedAt = happenedAt
        self.cause = cause
    }

    /// The compact JWS, by the algorithm of the stream.
    package func signed(with keys: AccessTokenKeys) throws -> String {
        let seconds = JSONValue.integer(happenedAt.wholeSeconds)
        let payload = JSONValue.object([
            "iss": .string(issuer), "aud": .string(stream.provider.description), "jti": .string(identifier),
            "iat": seconds, "toe": seconds, "txn": .string(cause), "sub_id": subject,
            "external_id": user.map { .string($0.externalID) },
            "events": .object([JSONMember(name: event.type, value: details)]),
        ])
        return try keys.signed(payload, with: stream.settings.algorithm, type: "secevent+jwt").reveal()
    }

    private var subject: JSONValue {
        guard let user else {
            return .object(["format": .string("opaque"), "id": .string(stream.id.description)])
        }
        let named = JSONValue.object([
            "format": .string("iss_sub"), "iss": .string(issuer), "sub": .string(user.id.description),
        ])
        switch stream.settings.subjectForm {
        case .issSub: return named
        case .complex:
            var session: JSONValue?
            if case .happened(.sessionRevoked(let id)) = event {
                session = .object(["format": .string("opaque"), "id": .string(id.description)])
            }
            return .object(["format": .string("complex"), "user": named, "session": session])
        }
    }

    private var details: JSONValue {
        switch event {
        case .verification(let state): .object(["state": state.map { .string($0) }])
        case .updated(let status, let reason):
            .object(["status": .string(status.rawValue), "reason": reason.map { .string($0) }])
        case .happened(let event):
            .object(
                members(of: event) + [
                    JSONMember(name: "event_timestamp", value: .integer(happenedAt.wholeSeconds)),
                    JSONMember(name: "reason_admin", value: .object(["en": .string(event.reason)])),
                ])
        }
    }

    private func members(of event: ProviderEvent) -> [JSONMember] {
        if case .ageProven(let proof) = event { return [JSONMember(name: "claims", value: proof.claims)] }
        let pairs: KeyValuePairs<String, String> =
            switch event {
            case .assuranceLevelChanged(let from, let to):
                [
                    "namespace": "custom", "previous_level": from.rawValue, "current_level": to.rawValue,
                    "change_direction": to > from ? "increase" : "decrease",
                ]
            case .certificateRevoked(let serial):
                ["credential_type": "x509", "change_type": "revoke", "x509_serial": serial]
            case .attestationRevoked(let serial):
                ["credential_type": "x509", "change_type": "update", "x509_serial": serial]
            case .ageProven, .sessionRevoked, .accountDisabled, .accountEnabled, .accountPurged: [:]
            }
        return pairs.map { JSONMember(name: $0.key, value: .string($0.value)) }
    }
}

extension ProviderEvent {
    /// One sentence for the administrators of a receiver (`reason_admin`, CAEP 1.0 §2).
    fileprivate var reason: String {
        switch self {
        case .sessionRevoked: "A session of the user ended."
        case .assuranceLevelChanged: "The user's assurance level changed."
        case .accountDisabled: "The user was banned."
        case .accountEnabled: "The ban of the user ended."
        case .accountPurged: "The data of the user was erased."
        case .ageProven: "The user's wallet proved an age."
        case .certificateRevoked: "The certificate of a device of the user was revoked."
        case .attestationRevoked: "The attestation of a device of the user was revoked by its maker."
        }
    }
}
