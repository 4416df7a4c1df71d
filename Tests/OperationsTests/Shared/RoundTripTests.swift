import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Operations

@Suite("Across a network")
struct RoundTripTests {
    /// The most that a call may cost, however many rows there are: statements on either engine, and waits for a server.
    private struct Budget {
        let statements: Int
        let waits: Int
    }

    private static let budgets: [String: Budget] = [
        "synchronize": Budget(statements: 25, waits: 6), "list": Budget(statements: 15, waits: 4),
        "list by pages": Budget(statements: 64, waits: 18), "filter": Budget(statements: 19, waits: 6),
        "show": Budget(statements: 17, waits: 4), "read": Budget(statements: 14, waits: 6),
        "append": Budget(statements: 34, waits: 3), "append between two": Budget(statements: 34, waits: 3),
        "receipts": Budget(statements: 20, waits: 4), "phone": Budget(statements: 43, waits: 6),
        // The new node reads the provider first, in four waits.
        "permission": Budget(statements: 36, waits: 10), "presence": Budget(statements: 14, waits: 3),
    ]

    /// Makes a call twice: once where statements are counted, and once where a server's waits are.
    private func requireCheap(
        _ name: String, on store: any Database, _ call: (_ over: any Database) async throws -> Void
    ) async throws {
        let budget = try #require(Self.budgets[name])
        let counter = StatementCounter(store)
        try await call(counter)
        let counts = counter.take()
        #expect(counts.statements + counts.reads <= budget.statements, "\(name)")
        guard let server = store as? PostgreSQLDatabase else { return }
        let before = server.exchanges
        try await call(store)
        #expect(server.exchanges - before <= budget.waits, "\(name)")
    }

    @Test("Calls on messages keep to their budgets with 64 streams and 100 messages", arguments: StoreKind.shared)
    func messages(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind, rateLimiting: .on) {
            $0.streams.conversationRequires = .provider
            $0.streams.writesPerMinute = 6000
            $0.streams.indexedMetadata = ["topic"]
        } _: { bench in
            let ann = try await bench.people.person("ann")
            var others: [Session] = []
            for number in 0..<4 { others.append(try await bench.people.person("other\(number)")) }
            var streams: [String] = []
            for number in 0..<63 {
                streams.append(try await bench.open("conversation", [others[number % others.count]], by: ann))
            }
            let (stream, friend) = (try #require(streams.first), try #require(others.first))
            try await bench.permit(ann, friend)
            let direct = try await bench.open("direct", [friend], by: ann)
            for other in others.dropFirst() { try await bench.add(other, to: stream, by: ann) }
            for number in 0..<100 { try await bench.send("\(number)", to: stream, by: ann) }
            let topic = try StrictJSON.parse(#"{"topic":"news"}"#.utf8)
            for stream in streams.prefix(40) {
                _ = try await bench.context.changeSharedMetadata(.merge(topic), in: stream, for: ann)
            }
            let store = bench.context.store
            func call(_ name: String, _ body: (MessageBench) async throws -> Void) async throws {
                try await requireCheap(name, on: store) { try await body(bench.anotherNode(over: $0)) }
            }
            try await call("append") { try await $0.send("x", to: stream, by: ann) }
            try await call("append between two") { try await $0.send("x", to: direct, by: ann) }
            var asked = others.dropFirst()
            try await call("permission") {
                let next = asked.popFirst()
                let other = try #require(next)
                let request = try Service.PermissionRequest(
                    id: UUID().uuidString.lowercased(), to: other.userID.description, eventID: nil)
                _ = try await $0.context.requestPermission(request, for: ann)
            }
            var receipt: Int64 = 0
            try await call("receipts") {
                receipt += 1
                _ = try await $0.context.acknowledgeMessages(
                    delivered: receipt, read: receipt, in: stream, for: friend)
            }
            try await call("read") {
                let read = try await $0.read(stream, by: ann)
                #expect(read.count == 100)
            }
            try await call("show") {
                let view = try await $0.show(stream, to: ann)
                #expect(view.members.count == 5)
            }
            try await call("list") {
                let filter = try MessageStreamFilter(kind: nil, cursor: nil)
                let page = try await $0.context.listMessageStreams(filter, for: ann)
                #expect(page.views.count == 20)
            }
            try await call("list by pages") {
                var (cursor, count) = (String?.none, 0)
                for _ in 0..<4 {
                    let filter = try MessageStreamFilter(kind: nil, cursor: cursor)
                    let page = try await $0.context.listMessageStreams(filter, for: ann)
                    (cursor, count) = (page.cursor, count + page.views.count)
                    if cursor == nil { break }
                }
                #expect(count == 64 && cursor == nil)
            }
            try await call("filter") {
                let filter = try MessageStreamFilter(
                    kind: nil, cursor: nil, member: friend.userID.description,
                    metadata: [("metadata.shared.topic", "news")], indexed: ["topic"])
                let page = try await $0.context.listMessageStreams(filter, for: ann)
                #expect(page.views.count == 10)
            }
            let users = others.map(\.userID) + (others.count..<50).map { _ in UserID(UUID()) }
            let question = try #require(Service.PresenceQuestion(users.map(\.description).joined(separator: ",")))
            try await call("presence") {
                let found = try await $0.context.readPresence(question, for: ann)
                #expect(found.count == 50)
            }
            try await call("synchronize") {
                let answer = try await $0.sync(for: ann)
                #expect(answer.operations.count == 100)
            }
        }
    }

    @Test("The start of a phone verification keeps to its budget", arguments: StoreKind.shared)
    func phone(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let connection = try await fixture.connectNewDevice()
            for (user, number) in [("ann", 2_671), ("bob", 2_681)] {
                let session = try await fixture.opened(user, on: connection).session
                var last = number
                try await requireCheap("phone", on: fixture.store) { store in
                    last += 1
                    let started = try await fixture.context(store: store).startPhoneVerification(
                        .init(
                            phoneNumber: "+1415555\(last)", region: nil, pushEndpoint: nil, presence: nil,
                            address: "192.0.2.1"), for: session, on: connection, verifyCaptcha: { _ in false })
                    #expect(started.decision != nil)
                }
            }
        }
    }
}
