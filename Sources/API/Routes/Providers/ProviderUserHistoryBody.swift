import Domain
import Encoding
import Hummingbird
import Operations

extension ProviderRoutes {
    /// The response with a page of a user's history.
    static func describe(_ history: Service.ProviderUserHistory) -> Response {
        let devices = history.devices.map { device in
            JSONValue.object([
                "device_id": .id(device.id), "first_at": .string(device.firstAt.rfc3339),
                "last_at": .string(device.lastAt.rfc3339),
            ])
        }
        return .json([
            "events": .array(history.events.map(describe)), "devices": .array(devices),
            "cursor": .text(history.cursor),
        ])
    }

    private static func describe(_ event: Service.ProviderUserHistory.Event) -> JSONValue {
        switch event {
        case .signIn(let attempt): describe(attempt)
        case .session(let past, let state): describe(past, state)
        }
    }

    private static func describe(_ attempt: SignInAttempt) -> JSONValue {
        .object([
            "type": .string("sign_in"), "at": .string(attempt.at.rfc3339), "act": .string(attempt.act.rawValue),
            "accepted": .bool(attempt.isAccepted), "code": .text(attempt.code),
            "reason": .text(attempt.code == Refusal.Code.userBanned.rawValue ? nil : attempt.reason),
            "session_id": attempt.sessionID.map { .id($0) } ?? .null,
            "device_id": attempt.deviceID.map { .id($0) } ?? .null,
            "app_id": attempt.applicationID.map { .id($0) } ?? .null,
            "key_id": attempt.providerKeyID.map { .id($0) } ?? .null,
        ])
    }

    private static func describe(_ past: PastSession, _ state: Session.EffectiveState) -> JSONValue {
        let session = past.session
        return .object([
            "type": .string("session"), "at": .string(session.createdAt.rfc3339), "state": .string(state.rawValue),
            "renewed_at": .string(session.renewedAt.rfc3339), "last_used_at": .string(session.lastUsedAt.rfc3339),
            "ended_at": .text(past.endedAt?.rfc3339), "end_reason": .text(past.endReason),
            "session_id": .id(session.id), "device_id": .id(session.deviceID), "app_id": .id(session.applicationID),
            "key_id": .id(session.providerKeyID),
        ])
    }
}
