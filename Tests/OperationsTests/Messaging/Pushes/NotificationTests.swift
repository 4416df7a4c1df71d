import Crypto
import Database
import Delivery
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("Providers' notifications to users")
struct NotificationTests {
    private static func made(_ body: String, id: UUID = UUID(), title: String? = nil) throws -> UserNotification {
        try UserNotification(
            id: id.uuidString, title: title, body: body,
            data: .object([JSONMember(name: "UserFrom", value: .string("bob"))]))
    }

    /// What a device finds when it begins anew.
    private static func found(_ context: Service, _ session: Session) async throws -> [String] {
        try await context.synchronizeMessages(since: .start, wait: 0, for: session).operations
            .compactMap { $0.notification?.content.body }
    }

    @Test(
        "are found in their order, the newest hundred, sealed; what comes twice is there once",
        arguments: StoreKind.shared)
    func kept(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let device = try await fixture.connectNewDevice()
            let session = try await fixture.opened("alice", on: device).session
            let backend = try await fixture.backend()
            let id = UUID()
            for _ in 0..<2 {
                try await fixture.context.notifyUser(try Self.made("first", id: id), to: "alice", by: backend)
            }
            #expect(try await Self.found(fixture.context, session) == ["first"])
            for number in 1...100 {
                fixture.clock.advance(60)
                try await fixture.context.notifyUser(try Self.made("\(number)"), to: "alice", by: backend)
            }
            let first = try await fixture.context.synchronizeMessages(since: .start, wait: 0, for: session)
            #expect(first.operations.compactMap { $0.notification?.content.body } == (1...100).map { "\($0)" })
            let rest = try await fixture.context.synchronizeMessages(since: first.anchor, wait: 0, for: session)
            #expect(rest.operations.isEmpty && !rest.hasMore)
            let stored = try await fixture.store.read { try OutboxRepository($0).list(nil, limit: 200) }
            #expect(stored.count == 100)
            #expect(!stored.contains { String(decoding: $0.payload, as: UTF8.self).contains("UserFrom") })
        }
    }

    @Test("have a title of one line and a body of lines, without what cannot be seen")
    func shown() throws {
        for text in ["a\u{202E}b", "a\u{2066}b", "a\u{1B}b", "a\u{3164}", "a\u{0}b"] {
            #expect(throws: Refusal(.malformedRequest, "")) { try Self.made("Hello", title: text) }
            #expect(throws: Refusal(.malformedRequest, "")) { try Self.made(text) }
        }
        #expect(throws: Refusal(.malformedRequest, "")) { try Self.made("Hello", title: "one\ntwo") }
        let good = try Self.made("one\ntwo \u{2764}\u{FE0F}", title: "Zo\u{EB}\u{2019}s \u{5C71}\u{7530}")
        #expect(UserNotification(jsonText: good.json.jsonText) == good)
        // One that an earlier version stored is still read.
        let stored = #"{"id":"\#(good.id)","title":"one\ntwo","body":null,"data":{}}"#
        #expect(UserNotification(jsonText: stored)?.title == "one\ntwo")
    }

    @Test("are bounded for a provider, whoever of its users they are for, and whatever was read anew of it")
    func boundedForProvider() async throws {
        var policy = Policy()
        policy.streams.notificationsPerProvider = 3
        try await ServiceFixture.run(policy) { fixture in
            for name in ["alice", "bob"] {
                _ = try await fixture.opened(name, on: try await fixture.connectNewDevice())
            }
            let backend = try await fixture.backend()
            for name in ["alice", "bob", "alice"] {
                try await fixture.context.notifyUser(try Self.made("x"), to: name, by: backend)
            }
            fixture.context.caches.providers.dropAll()
            await #expect(throws: Refusal(.rateLimited, "")) {
                try await fixture.context.notifyUser(try Self.made("x"), to: "bob", by: backend)
            }
            fixture.clock.advance(20)
            try await fixture.context.notifyUser(try Self.made("x"), to: "bob", by: backend)
        }
    }

    /// A user with an endpoint, and what sends to it.
    private static func withEndpoint(
        _ body: (ServiceFixture, User, DeliverOutbox, AuthorizationBench.Pushes) async throws -> Void
    ) async throws {
        var policy = Policy()
        policy.phones.pushApplications = [AuthorizationBench.application]
        try await ServiceFixture.run(policy) { fixture in
            let (context, pushes) = (fixture.context, AuthorizationBench.Pushes())
            // No level is needed, and no proven number.
            let session = try await fixture.opened("alice", on: try await fixture.connectNewDevice()).session
            let change = PushEndpointChange(usual: .some(AuthorizationBench.endpoint("alice")))
            try await context.changeProfile(Service.ProfileChange(endpoints: change), for: session)
            let known = try await fixture.store.read { try UserRepository($0).find(session.userID) }
            let deliver = DeliverOutbox(of: context, send: { message, _ in pushes.take(message) })
            try await body(fixture, try #require(known), deliver, pushes)
        }
    }

    @Test("are pushed once to a user with an endpoint if they have words, and without their data if it is too much")
    func pushed() async throws {
        try await Self.withEndpoint { fixture, _, deliver, pushes in
            let backend = try await fixture.backend()
            let id = UUID()
            for _ in 0..<2 {
                try await fixture.context.notifyUser(
                    try Self.made("Hello", id: id, title: "bob"), to: "alice", by: backend)
            }
            let silent = try UserNotification(id: UUID().uuidString, title: nil, body: nil, data: nil)
            try await fixture.context.notifyUser(silent, to: "alice", by: backend)
            _ = try await deliver()
            #expect(pushes.endpoints == ["alice"])
            let data = try pushes.data()
            #expect(data["aps"]?["alert"]?["title"]?.text == "bob" && data["UserFrom"]?.text == "bob")
            #expect(data["notification_id"]?.text == id.uuidString.lowercased())
            let long = try UserNotification(
                id: UUID().uuidString, title: nil, body: "Long",
                data: .object([JSONMember(name: "text", value: .string(String(repeating: "x", count: 4000)))]))
            try await fixture.context.notifyUser(long, to: "alice", by: backend)
            _ = try await deliver()
            #expect(try pushes.data()["aps"]?["alert"]?["body"]?.text == "Long")
            #expect(try pushes.data()["text"] == nil && pushes.sent.count == 2)
        }
    }

    @Test("are not pushed to a user who was banned meanwhile, and belong to the user's export")
    func banned() async throws {
        try await Self.withEndpoint { fixture, user, deliver, pushes in
            let keys = fixture.context.keys.personal
            try await fixture.context.notifyUser(
                try Self.made("Hello"), to: "alice", by: try await fixture.backend())
            let order = try BanOrder(
                target: .user(user.id.description), scope: .messaging, reason: try #require(BanBench.spam), note: nil,
                endsAt: nil, withDevices: false)
            _ = try await fixture.admin.addBan(order, upTo: nil)
            _ = try await deliver()
            #expect(pushes.sent.isEmpty)
            let export = try await fixture.store.read { transaction in
                try PersonalExport.collect(user, address: "test/alice", keys: keys, in: transaction).json
            }
            guard case .array(let sent)? = export["notifications"] else { throw Refusal(.notFound, "no export") }
            #expect(sent.map { $0["body"]?.text } == ["Hello"])
        }
    }

    @Test("come to nobody who was erased meanwhile, whose endpoint is gone, or of another provider")
    func lost() async throws {
        try await Self.withEndpoint { fixture, user, deliver, pushes in
            let backend = try await fixture.backend()
            await #expect(throws: Refusal(.notFound, "")) {
                try await fixture.context.notifyUser(try Self.made("x"), to: "nobody", by: backend)
            }
            pushes.answer(.endpointGone)
            try await fixture.context.notifyUser(try Self.made("x"), to: "alice", by: backend)
            _ = try await deliver()
            try await fixture.context.notifyUser(try Self.made("y"), to: "alice", by: backend)
            _ = try await deliver()
            #expect(pushes.sent.count == 1)
            let (keys, id) = (fixture.context.keys.personal, user.id)
            try await fixture.context.write { transaction, events in
                try EraseUser(keys: keys, actor: "test", reason: "user_request")(
                    id, receipt: UUID(), in: transaction, &events)
            }
            let left = try await fixture.store.read { try OutboxRepository($0).list(nil, limit: 10) }
            #expect(!left.contains { $0.userID == id })
            await #expect(throws: Refusal(.notFound, "")) {
                try await fixture.context.notifyUser(try Self.made("z"), to: "alice", by: backend)
            }
        }
    }
}
