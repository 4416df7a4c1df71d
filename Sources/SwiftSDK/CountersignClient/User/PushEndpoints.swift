import Foundation
import HTTPTypes

/// The endpoints of this device for pushes: ARNs of Amazon SNS endpoints.
public struct PushEndpoints: Sendable, Hashable, Decodable {
    /// The endpoint for all pushes, without ``calls`` for calls too.
    public let usual: String?
    /// The endpoint for incoming calls, such as that of Apple's pushes for VoIP.
    public let calls: String?

    private enum CodingKeys: String, CodingKey {
        case usual = "push_endpoint"
        case calls = "call_endpoint"
    }
}

extension Countersign {
    /// Registers this device for pushes, in place of its earlier endpoints. The user needs no level, and each device of
    /// the user gets every push.
    ///
    /// Call it after each sign-in and at each start of the app, because the tokens of pushes change. Signing out removes
    /// the endpoints.
    ///
    /// - Parameters:
    ///   - endpoint: the ARN for all pushes; `nil` for none.
    ///   - calls: the ARN for incoming calls; `nil` if they use `endpoint`.
    @discardableResult
    public func registerForPushes(_ endpoint: String?, calls: String? = nil) async throws(Refusal) -> PushEndpoints {
        struct Endpoints: Encodable {
            let usual, calls: String?

            enum CodingKeys: String, CodingKey {
                case usual = "push_endpoint"
                case calls = "call_endpoint"
            }

            func encode(to encoder: any Encoder) throws {
                var members = encoder.container(keyedBy: CodingKeys.self)
                try members.encode(usual, forKey: .usual)
                try members.encode(calls, forKey: .calls)
            }
        }
        return try await perform(Call(.patch, "/me", body: Endpoints(usual: endpoint, calls: calls)))
    }
}

/// A push about a call, as the app receives it: the data without Apple's `aps`.
public enum CallPush: Sendable, Hashable {
    /// A call of somebody. Read the stream for the offer, and stop ringing at the end of the time.
    case incoming(stream: UUID, until: Date, initials: String?)
    /// The call rings no longer.
    case ended(stream: UUID, reason: Reason)

    /// Why a call rings no longer.
    public enum Reason: String, Sendable, Hashable {
        /// The user answered on another device.
        case answered
        /// The user declined on another device.
        case declined
        /// The caller gave up before an answer.
        case givenUp = "given_up"
        /// Nobody answered while it rang.
        case missed
    }

    /// Reads the data of a push; `nil` for a push about anything else, and for a notification of the provider, whatever
    /// its data say.
    public init?(_ data: [String: String]) {
        guard data["notification_id"] == nil, let stream = data["stream_id"].flatMap({ UUID(uuidString: $0) }) else {
            return nil
        }
        switch data["type"] {
        case "CALL":
            guard let until = data["expires_at"].flatMap({ try? Date($0, strategy: .iso8601) }) else { return nil }
            self = .incoming(stream: stream, until: until, initials: data["initials"])
        case "CALL_END":
            guard let reason = data["reason"].flatMap(Reason.init) else { return nil }
            self = .ended(stream: stream, reason: reason)
        default: return nil
        }
    }
}
