import Database
import Domain
import Repositories

/// A provider enables, pauses or disables a stream (SSF 1.0 §8.1.2.2).
package struct SetEventStreamStatus: Sendable {
    private let context: Service

    package init(_ context: Service) {
        self.context = context
    }

    /// Sets the status. A paused stream holds its events; a disabled one drops them.
    ///
    /// - Throws: `Refusal` `not_found`; `provider_token_invalid`.
    package func callAsFunction(
        _ id: EventStreamID, _ status: EventStream.Status, because reason: String?, by caller: FreshProof
    ) async throws -> EventStream {
        try await context.countReceiverChange("streams", of: caller.id)
        return try await context.write { transaction, events in
            try caller.requireActive(in: transaction)
            let streams = EventStreamRepository(transaction)
            var stream = try streams.require(id, of: caller.id)
            stream.set(status, because: reason)
            stream.activeAt = transaction.now
            try streams.save(stream)
            if status == .disabled { try StreamQueueRepository(transaction, of: id).clear() }
            events.record(.eventStreamSet(id, caller.id), by: "provider \(caller.id)")
            events.record(.eventsWait(in: id))
            return stream
        }
    }
}
