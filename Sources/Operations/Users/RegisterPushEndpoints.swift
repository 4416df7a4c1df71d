import Database
import Domain
import Foundation
import Repositories

/// A device's change of its push endpoints. Each is left as it is, removed (`.some(nil)`) or set.
package struct PushEndpointChange: Sendable, Confidential {
    let usual: String??
    let calls: String??

    /// - Parameters:
    ///   - usual: the ARN for all pushes.
    ///   - calls: the ARN for incoming calls only.
    package init(usual: String?? = nil, calls: String?? = nil) {
        self.usual = usual
        self.calls = calls
    }

    /// Whether both ARNs belong to applications that the policy names.
    ///
    /// - Throws: `Refusal` `malformed_request`.
    func validate(_ applications: [String]) throws(Refusal) {
        if case .some(let arn?) = usual { _ = try PushEndpoint(arn, of: applications) }
        if case .some(let arn?) = calls {
            do { _ = try PushEndpoint(arn, of: applications) } catch { throw Refusal.unknownCallEndpoint }
        }
    }

    /// The endpoints after the change; `nil` if none is left.
    func applied(to old: PushEndpoints?) -> PushEndpoints? {
        PushEndpoints(usual: usual ?? old?.usual, calls: calls ?? old?.calls)
    }
}

extension Service {
    /// How old a registration is before the same one is written again, in seconds: apps register at each start.
    private static let freshness: Double = 86_400

    /// Registers the changed endpoints of a session's device, and queues the pushes that waited for an endpoint.
    func register(
        _ change: PushEndpointChange, by session: Session, in transaction: any Transaction,
        _ events: inout RecordedEvents
    ) throws {
        let records = PushEndpointRepository(transaction, keys: keys.personal)
        let (user, device) = (session.userID, session.deviceID)
        let old = try records.list(of: user).first { $0.device == device }
        guard let endpoints = change.applied(to: old?.endpoints) else {
            return try records.delete(user, on: device)
        }
        let isFresh = old.map { transaction.now.timeIntervalSince($0.registeredAt) < Self.freshness } ?? false
        guard endpoints != old?.endpoints || !isFresh else {
            return try SessionRepository(transaction).noteEndpoint(of: session.id)
        }
        let expired = transaction.now.addingTimeInterval(-policy[\.sessions].absoluteLifetime)
        try records.register(
            endpoints, by: session, limit: policy[\.phones].pushEndpointsPerUser, sessionsExpiredBefore: expired)
        if endpoints.usual != nil {
            try authorizationPushes.queueUnsent(to: user, on: device, in: transaction, &events)
        }
    }
}
