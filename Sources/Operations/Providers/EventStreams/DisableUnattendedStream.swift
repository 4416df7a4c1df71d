import Database
import Domain
import Encoding
import Foundation
import Repositories

/// Disables a stream that has more events than it may, or whose receiver was inactive for too long. Its events are
/// dropped, and one event remains that reports it. The receiver reads the state of its users again and enables the
/// stream.
struct DisableUnattendedStream {
    /// The maximum number of events in a stream.
    let held: Int
    /// How long a receiver may be inactive, in seconds; `nil` without a limit.
    let inactivity: TimeInterval?
    let environment: Environment
    let transaction: any Transaction

    /// Disables the stream if it exceeds a limit; `true` if it has.
    func callAsFunction(_ stream: EventStream, _ events: inout RecordedEvents) throws -> Bool {
        let streams = EventStreamRepository(transaction)
        let queue = StreamQueueRepository(transaction, of: stream.id)
        let reason: String
        if try queue.holdsMore(than: held) {
            reason = "More than \(held) events waited for the receiver; they were dropped."
        } else if let inactivity, try isInactive(stream, for: inactivity) {
            reason = "The receiver sent no request for \(Int(saturating: inactivity)) s; what waited was dropped."
        } else {
            // Cleared while there is no limit. Otherwise setting a limit would disable every stream at once.
            if inactivity == nil, stream.activeAt != nil { try streams.setActive(nil, of: stream.id) }
            return false
        }
        // It may have been deleted meanwhile.
        guard try streams.disable(stream.id, because: reason) else { return false }
        try queue.clear()
        try streams.enqueue(
            environment.newIdentifier(), .updated(.disabled, reason: reason), of: nil, in: .init(stream),
            cause: environment.newUUID().uuidString.lowercased())
        events.record(.eventStreamDisabled(stream.id, stream.provider), by: "service")
        events.record(.eventsWait(in: stream.id))
        return true
    }

    /// Whether the receiver was inactive for longer. If no activity was recorded, the time starts now.
    private func isInactive(_ stream: EventStream, for limit: TimeInterval) throws -> Bool {
        guard let active = stream.activeAt else {
            try EventStreamRepository(transaction).setActive(transaction.now, of: stream.id)
            return false
        }
        return transaction.now.timeIntervalSince(active) > limit
    }
}
