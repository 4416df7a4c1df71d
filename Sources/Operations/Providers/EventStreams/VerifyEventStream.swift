import Database
import Domain
import Encoding
import Foundation
import Repositories

/// A provider asks for a verification event, to see that its stream works (SSF 1.0 §8.1.4.2).
package struct VerifyEventStream: Sendable {
    private let context: Service

    package init(_ context: Service) {
        self.context = context
    }

    /// Writes the event into the stream. A paused stream holds it as any other.
    ///
    /// - Throws: `Refusal` `not_found`; `conflict` if the stream is disabled; `rate_limited`;
    ///   `provider_token_invalid` if the caller's key was revoked meanwhile.
    package func callAsFunction(_ id: EventStreamID, state: String?, by caller: ProvenProvider) async throws {
        let isLimited = context.rateLimiting == .on
        let (interval, environment) = (context.policy[\.webhooks].verificationInterval, context.environment)
        try await context.write { transaction, events in
            try caller.requireActive(in: transaction)
            let streams = EventStreamRepository(transaction)
            var stream = try streams.require(id, of: caller.id)
            guard stream.status != .disabled else {
                throw Refusal.eventStreamDisabled(state: stream.status.rawValue)
            }
            let wait = stream.verifiedAt.map { interval - transaction.now.timeIntervalSince($0) } ?? 0
            guard !isLimited || wait <= 0 else {
                let seconds = max(1, Int(saturating: wait.rounded(.up)))
                throw Refusal.verifiedTooSoon(retryAfter: seconds)
            }
            (stream.verifiedAt, stream.activeAt) = (transaction.now, transaction.now)
            try streams.save(stream)
            try streams.enqueue(
                environment.newIdentifier(), .verification(state: state), of: nil, in: .init(stream),
                cause: environment.newUUID().uuidString.lowercased())
            events.record(.eventsWait(in: id))
        }
    }
}
