import Domain
import Fixtures
import Foundation
import Operations

extension ConsequenceTests {
    /// A stream of alice's provider.
    private static func stream(
        _ world: ConsequenceWorld, on node: ConsequenceWorld.Node, _ change: EventStream.Change = EventStream.Change()
    ) async throws -> EventStream {
        try await node.context.createEventStream(
            change, proof: nil, by: try await node.backend(world.fixture), allowingLoopback: false)
    }

    static let streamRows: [Row] = [
        .service("CreateEventStream", audit: ["event_stream_set"]) { world in
            { node in _ = try await stream(world, on: node) }
        },
        .service("UpdateEventStream", audit: ["event_stream_set"], here: [.wakesOutbox]) { world in
            let made = try await stream(world, on: world.second)
            return { node in
                _ = try await node.context.updateEventStream(
                    made.id, EventStream.Change(), by: try await node.proof(world.fixture), allowingLoopback: false)
            }
        },
        .service("DeleteEventStream", audit: ["event_stream_removed"], here: [.wakesOutbox]) { world in
            let made = try await stream(world, on: world.second)
            return { node in
                try await node.context.deleteEventStream(
                    made.id, by: try await node.proof(world.fixture))
            }
        },
        .service("SetEventStreamStatus", audit: ["event_stream_set"], here: [.wakesOutbox]) { world in
            let made = try await stream(world, on: world.second)
            return { node in
                _ = try await node.context.setEventStreamStatus(
                    made.id, .paused, because: nil, by: try await node.proof(world.fixture))
            }
        },
        .service("VerifyEventStream", queued: ["polled_event"], here: [.wakesOutbox]) { world in
            let made = try await stream(world, on: world.second)
            return { node in
                try await node.context.verifyEventStream(
                    made.id, state: nil, by: try await node.backend(world.fixture))
            }
        },
        .service("RemoveEventSubject", audit: ["event_subject_removed"]) { world in
            let made = try await stream(world, on: world.second)
            return { node in
                try await node.context.removeEventSubject(
                    .email("alice"), from: made.id, by: try await node.proof(world.fixture))
            }
        },
        .service("AddEventSubject", audit: ["event_subject_added"]) { world in
            let made = try await stream(world, on: world.second)
            return { node in
                try await node.context.addEventSubject(
                    .email("alice"), to: made.id, by: try await node.backend(world.fixture))
            }
        },
        .service("PollEvents") { world in
            let made = try await stream(world, on: world.second)
            return { node in
                let question = EventPoll(
                    maximum: 0, isImmediate: true, received: [OutboxMessageID(UUID())], refused: [])
                _ = try await node.context.pollEvents(
                    question, of: made.id, by: try await node.backend(world.fixture))
            }
        },
        .admin("ApproveEventStream", audit: ["event_stream_approved"], queued: ["provider_event"]) { world in
            var change = EventStream.Change()
            change.delivery = .push("https://other.invalid/")
            let made = try await stream(world, on: world.second, change)
            return { _ in _ = try await world.fixture.admin.approveEventStream(made.id, url: "https://other.invalid/")
            }
        },
    ]
}
