import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

/// Streams over the bench of authorizations, as one node serves them.
struct MessageBench: Sendable {
    let people: AuthorizationBench
    let context: Service

    static func run(
        on kind: StoreKind = .usual, rateLimiting: RateLimiting = .off, _ change: (inout Policy) -> Void = { _ in },
        _ body: (MessageBench) async throws -> Void
    ) async throws {
        try await run(on: kind, nodes: 1, rateLimiting: rateLimiting, change) { bench, _ in try await body(bench) }
    }

    /// The same with instances of the store for some nodes.
    static func run(
        on kind: StoreKind, nodes: Int, rateLimiting: RateLimiting = .off, _ change: (inout Policy) -> Void,
        _ body: (MessageBench, [any Database]) async throws -> Void
    ) async throws {
        let clock = ServiceFixture.Clock()
        var policy = Policy()
        policy.phones.pushApplications = [AuthorizationBench.application]
        policy.bans.maximumStaleness = 3600
        change(&policy)
        let rules = policy
        let now: @Sendable () -> Date = { clock.now }
        try await withStores(kind, count: nodes, migrations: Schema.migrations, clock: now) { stores in
            let people = try await AuthorizationBench(stores[0], clock, CurrentPolicy(rules), rateLimiting)
            try await body(MessageBench(people: people, context: people.context), stores)
        }
    }

    /// The same streams as another node serves them.
    func anotherNode(over store: (any Database)? = nil) -> MessageBench {
        let (clock, old) = (people.clock, context)
        let store = store ?? old.store
        let node = ServingNode(caches: Caches(store: store))
        let environment = Environment(now: { clock.now })
        return MessageBench(
            people: people,
            context: Service(
                realm: old.realm, urls: old.urls, keys: old.keys, rateLimiting: old.rateLimiting, node: node,
                invalidator: CacheInvalidator(
                    store: store, node: node, policy: old.policy, environment: environment)))
    }

    static func opening(
        _ kind: String, _ members: [String], id: String = UUID().uuidString, title: String? = nil
    ) throws -> StreamOpening {
        try StreamOpening(
            id: id, kind: kind, members: .array(members.map { .string($0) }), title: title, description: nil,
            imageURL: nil, metadata: nil)
    }

    static func text(
        _ text: String, id: String = UUID().uuidString, to reply: String? = nil
    ) throws -> Service.NewMessage {
        let part = JSONValue.object(["type": .string("text/plain"), "body": .string(text)])
        return try Service.NewMessage(id: id, parts: .array([part]), inReplyTo: reply)
    }

    /// Lets two users message each other; the authorization's id.
    @discardableResult
    func permit(_ one: Session, _ other: Session) async throws -> String {
        let id = try await people.request(one, other)
        _ = try await people.context.approveAuthorization(id, for: other)
        return id
    }

    func open(_ kind: String, _ members: [Session] = [], by session: Session) async throws -> String {
        let opening = try Self.opening(kind, members.map(\.userID.description))
        return try await context.openMessageStream(opening, for: session).id.description
    }

    @discardableResult
    func send(
        _ text: String, to stream: String, by session: Session, reply: String? = nil
    ) async throws -> StreamMessage {
        try await context.appendMessage(try Self.text(text, to: reply), to: stream, for: session)
    }

    /// What a user reads of a stream, oldest first: numbers and texts; `-` for what was deleted.
    func read(_ stream: String, by session: Session) async throws -> [String] {
        let range = try Service.MessageRange(after: "0", before: nil, limit: nil)
        return try await context.readMessages(range, of: stream, for: session).views.map { view in
            var text = "-"
            if case .array(let parts) = view.parts { text = parts.first?["body"]?.text ?? "?" }
            return "\(view.message.sequence) \(text)"
        }
    }

    func show(_ stream: String, to session: Session) async throws -> MessageStreamView {
        try await context.readMessageStream(stream, to: session)
    }

    func add(_ user: Session, to stream: String, by session: Session) async throws {
        try await context.addMember(user.userID.description, to: stream, for: session)
    }

    func remove(_ user: Session, from stream: String, by session: Session) async throws {
        try await context.removeMember(user.userID.description, from: stream, for: session)
    }

    func sync(
        _ anchor: Service.SyncAnchor = .start, wait: TimeInterval = 0, for session: Session
    ) async throws -> Service.SyncAnswer {
        try await context.synchronizeMessages(since: anchor, wait: wait, for: session)
    }

    /// Lets something happen behind a backup, restores it, and hands over the copy and what was done to it.
    func restored(
        since: () async throws -> Void, then: (any Database, RestoreStore.Report) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let (store, clock) = (context.store, people.clock)
            let path = try #require(
                try await store.read {
                    try $0.first("SELECT file FROM pragma_database_list WHERE name = 'main'")?.text(0)
                })
            let copy = directory.appending(path: "copy.db").path
            try SQLiteMaintenance(path: path).backup(to: copy)
            try await since()
            let restored = try SQLiteDatabase(path: copy, clock: { clock.now })
            let report = try await RestoreStore(
                restored: restored, replaced: store, keys: people.keys,
                environment: Environment(now: { clock.now }), actor: "admin test")(reason: nil)
            try await then(restored, report)
            try await restored.close()
        }
    }

    /// Every call on a stream, by its name.
    func calls(on stream: String, message: String, about user: Session) -> [(
        name: String, call: @Sendable (Session) async throws -> Void
    )] {
        let (context, other) = (context, user.userID.description)
        return [
            ("append", { _ = try await context.appendMessage(try Self.text("x"), to: stream, for: $0) }),
            (
                "read",
                {
                    let range = try Service.MessageRange(after: nil, before: nil, limit: nil)
                    _ = try await context.readMessages(range, of: stream, for: $0)
                }
            ), ("show", { _ = try await context.readMessageStream(stream, to: $0) }),
            (
                "receipts",
                { _ = try await context.acknowledgeMessages(delivered: 1, read: 1, in: stream, for: $0) }
            ), ("add", { try await context.addMember(other, to: stream, for: $0) }),
            ("remove", { try await context.removeMember(other, from: stream, for: $0) }),
            ("share", { _ = try await context.changeSharedMetadata(.set(.empty), in: stream, for: $0) }),
            ("keep", { _ = try await context.changeOwnMetadata(.set(.empty), in: stream, for: $0) }),
            (
                "tag",
                { _ = try await context.changeSharedMessageMetadata(.set(.empty), of: message, in: stream, for: $0) }
            ),
            (
                "tag privately",
                { _ = try await context.changeOwnMessageMetadata(.set(.empty), of: message, in: stream, for: $0) }
            ), ("delete copy", { try await context.deleteMessageCopy(message, in: stream, for: $0) }),
            ("delete message", { try await context.deleteMessage(message, in: stream, for: $0) }),
            ("delete", { try await context.deleteMessageStream(stream, for: $0) }),
        ]
    }
}
