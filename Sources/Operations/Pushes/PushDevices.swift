import Database
import Delivery
import Domain
import Repositories

/// Queues and addresses pushes: each device of a user gets a message of its own.
struct PushDevices: Sendable {
    let keys: PersonalKeys

    /// The content of a push to a device, whose endpoint is read when the push is sent.
    ///
    /// - Parameter payload: the payload; `nil` if it is too long.
    func content(
        to user: UserID, on device: DeviceID, for purpose: PushEndpoints.Purpose = .usual,
        urgency: PushUrgency = .usual, in transaction: any Transaction, payload: () throws -> String?
    ) throws -> OutboxContent {
        let endpoints = try PushEndpointRepository(transaction, keys: keys).find(user, on: device)
        guard let endpoint = endpoints?.target(for: purpose) else { return .overtaken("there is no endpoint") }
        guard let payload = try payload() else { return .overtaken("the push is too long") }
        return .message(.push(endpoint: endpoint, payload: payload, urgency: urgency))
    }

    /// Removes an endpoint that the carrier reported as deleted.
    ///
    /// - Returns: `false` if the device has registered another one since.
    func drop(
        _ content: OutboxContent, of user: UserID, on device: DeviceID, in transaction: any Transaction
    ) throws -> Bool {
        guard case .message(.push(let endpoint, _, _)) = content else { return true }
        return try PushEndpointRepository(transaction, keys: keys).drop(endpoint, of: user, on: device)
    }
}

extension OutboxMessage {
    /// The subject of a push; `nil` for another kind of message, and for a damaged row.
    var push: PushSubject? { kind.pushWords.flatMap { PushSubject(subject, words: $0) } }
}
