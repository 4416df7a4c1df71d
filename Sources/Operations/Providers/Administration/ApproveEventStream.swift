import Database
import Domain
import Foundation
import Repositories

/// An admin approves the push address of a stream, so that events are sent to it.
package struct ApproveEventStream: Sendable {
    private let context: Administration

    package init(_ context: Administration) {
        self.context = context
    }

    /// Approves the address that the stream has now, and tells the receiver that the stream is enabled.
    ///
    /// - Parameter url: the address as the admin read it. Another one may have been set since.
    /// - Throws: `Refusal` `not_found`; `conflict` if there is nothing to approve, or the address is another one.
    package func callAsFunction(_ id: EventStreamID, url: String) async throws -> EventStream {
        let (actor, environment) = (context.actor, context.environment)
        return try await context.write { transaction, events in
            let streams = EventStreamRepository(transaction)
            guard var stream = try streams.find(id) else { throw Refusal.unknownEventStream(id) }
            guard stream.awaitsApproval, case .push(let present) = stream.settings.delivery else {
                throw Refusal.nothingToApprove
            }
            guard present == url else {
                throw Refusal.pushAddressChanged(to: present)
            }
            stream.approvedURL = present
            try streams.save(stream)
            if stream.status == .enabled {
                try streams.enqueue(
                    environment.newIdentifier(),
                    .updated(.enabled, reason: "An operator approved the push address."), of: nil, in: .init(stream),
                    cause: environment.newUUID().uuidString.lowercased())
            }
            events.record(.eventStreamApproved(id, stream.provider), by: actor)
            events.record(.eventsWait(in: id))
            return stream
        }
    }
}
