import Database
import Domain
import Foundation
import Repositories

/// Disables a stream that holds more events than it may: its receiver takes none of them. What waited is dropped, and the
/// one event that is left says so. The receiver reads the state of its users anew and enables the stream.
struct DisableFullStream {
    /// How many events a stream may hold.
    let held: Int
    let transaction: any Transaction

    /// Disables the stream if it is full.
    func callAsFunction(_ stream: EventStream, _ events: inout RecordedEvents) throws {
        let queue = StreamQueueRepository(transaction, of: stream.id)
        guard try queue.holdsMore(than: held) else { return }
        let reason = "More than \(held) events waited for the receiver; they were dropped."
        let streams = EventStreamRepository(transaction)
        // It may be gone meanwhile.
        guard try streams.disable(stream.id, because: reason) else { return }
        try queue.clear()
        try streams.enqueue(
            .updated(.disabled, reason: reason), of: nil, in: .init(stream), cause: UUID().uuidString.lowercased())
        events.record(.eventStreamDisabled(stream.id, stream.provider), by: "service")
        events.record(.eventsWait(in: stream.id))
    }
}
