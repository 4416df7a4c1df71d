import Database
import Domain
import Encoding
import Foundation
import Repositories

/// Disables a stream whose receiver does not attend to it: one that holds more events than it may, or one of which the
/// receiver wanted nothing for a while. What waited is dropped, and the one event that is left says so. The receiver reads
/// the state of its users anew and enables the stream.
struct DisableUnattendedStream {
    /// How many events a stream may hold.
    let held: Int
    /// For how long a receiver may want nothing, seconds; `nil` for ever.
    let inactivity: TimeInterval?
    let environment: Environment
    let transaction: any Transaction

    /// Disables the stream if it is unattended.
    func callAsFunction(_ stream: EventStream, _ events: inout RecordedEvents) throws {
        let streams = EventStreamRepository(transaction)
        let queue = StreamQueueRepository(transaction, of: stream.id)
        let reason: String
        if try queue.holdsMore(than: held) {
            reason = "More than \(held) events waited for the receiver; they were dropped."
        } else if let inactivity, try isInactive(stream, for: inactivity) {
            reason = "The receiver sent no request for \(Int(saturating: inactivity)) s; what waited was dropped."
        } else {
            // A clock that ran on unattended would stop every stream when an operator sets the time.
            if inactivity == nil, stream.activeAt != nil { try streams.setActive(nil, of: stream.id) }
            return
        }
        // It may be gone meanwhile.
        guard try streams.disable(stream.id, because: reason) else { return }
        try queue.clear()
        try streams.enqueue(
            environment.newIdentifier(), .updated(.disabled, reason: reason), of: nil, in: .init(stream),
            cause: environment.newUUID().uuidString.lowercased())
        events.record(.eventStreamDisabled(stream.id, stream.provider), by: "service")
        events.record(.eventsWait(in: stream.id))
    }

    /// Whether the receiver was inactive for longer. The clock of a stream that had none starts now.
    private func isInactive(_ stream: EventStream, for limit: TimeInterval) throws -> Bool {
        guard let active = stream.activeAt else {
            try EventStreamRepository(transaction).setActive(transaction.now, of: stream.id)
            return false
        }
        return transaction.now.timeIntervalSince(active) > limit
    }
}
