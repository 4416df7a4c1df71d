import Domain
import Encoding
import Repositories

@testable import Operations

/// What one device knows of the user's streams, by synchronization alone.
struct Replica {
    let session: Session
    var anchor = Service.SyncAnchor.start
    var streams: [MessageStreamID: Known] = [:]

    struct Known: Equatable {
        var messages: [String] = []
        var members: [String] = []
        var metadata: JSONValue = .object([])
        var own: JSONValue = .object([])
        /// The metadata of messages, shared and private, by number.
        var tags: [Int64: [JSONValue]] = [:]

        /// Takes the metadata of a message, which a change of it contains.
        mutating func take(_ one: MessageMetadataView) {
            let both = [one.shared.value, one.own.value]
            tags[one.sequence] = both == [.object([]), .object([])] ? nil : both
        }
    }

    init(_ session: Session) { self.session = session }

    private static func members(_ view: MessageStreamView) -> [String] {
        view.members.map { "\($0.member.userID) \($0.member.deliveredThrough) \($0.member.readThrough)" }
    }

    /// Takes one page.
    ///
    /// - Returns: whether there is more.
    mutating func synchronize(_ node: MessageBench) async throws -> Bool {
        let answer = try await node.sync(anchor, for: session)
        for operation in answer.operations { try await apply(operation, node) }
        anchor = answer.anchor
        return answer.hasMore
    }

    private mutating func apply(_ operation: Service.SyncOperation, _ node: MessageBench) async throws {
        guard let view = operation.view else {
            if let metadata = operation.metadata { streams[operation.stream]?.take(metadata) }
            if operation.message == nil { streams[operation.stream] = nil }
            // The message's own place says that it is gone.
            if operation.change == .deleted, operation.message != nil, streams[operation.stream] != nil {
                streams[operation.stream]?.messages = try await node.read("\(operation.stream)", by: session)
                streams[operation.stream]?.tags = try await node.tags("\(operation.stream)", by: session)
            }
            return
        }
        var known = streams[operation.stream] ?? Known()
        known.members = Self.members(view)
        if operation.change == .updateTags, view.state == .open {
            known.metadata = view.metadata?.value ?? .object([])
            known.own = view.privateMetadata?.value ?? .object([])
        }
        if operation.change == .newMessage {
            known.messages = try await node.read("\(operation.stream)", by: session)
            if view.state == .open { known.tags = try await node.tags("\(operation.stream)", by: session) }
        }
        streams[operation.stream] = known
    }

    /// What the service says of the same streams now.
    func truth(_ node: MessageBench) async throws -> [MessageStreamID: Known] {
        var found: [MessageStreamID: Known] = [:]
        for id in streams.keys {
            let view = try await node.show("\(id)", to: session)
            let isOpen = view.state == .open
            found[id] = Known(
                messages: try await node.read("\(id)", by: session), members: Self.members(view),
                metadata: isOpen ? view.metadata?.value ?? .object([]) : streams[id]?.metadata ?? .object([]),
                own: isOpen ? view.privateMetadata?.value ?? .object([]) : streams[id]?.own ?? .object([]),
                tags: isOpen ? try await node.tags("\(id)", by: session) : streams[id]?.tags ?? [:])
        }
        return found
    }
}
