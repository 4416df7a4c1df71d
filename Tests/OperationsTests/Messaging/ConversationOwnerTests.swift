import Domain
import Fixtures
import Testing

@testable import Operations

@Suite("A conversation belongs to its members")
struct ConversationOwnerTests {
    @Test("each of whom deletes it for all, whoever opened it", arguments: StoreKind.shared)
    func members(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            try await bench.permit(ann, bob)
            let stream = try await bench.open("conversation", [bob], by: ann)
            try await bench.context.deleteMessageStream(stream, for: bob)
            try await bench.context.deleteMessageStream(stream, for: bob)
            for person in [ann, bob] {
                await #expect(throws: Refusal(.notFound, "")) { try await bench.read(stream, by: person) }
                #expect(try await bench.sync(for: person).operations.map(\.change) == [.deleted])
            }
        }
    }

    @Test("so that it can be left and deleted after its creator was removed or erased")
    func withoutCreator() async throws {
        try await MessageBench.run { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            let eve = try await bench.people.person("eve")
            for other in [bob, eve] { try await bench.permit(ann, other) }
            let (one, two) = (
                try await bench.open("conversation", [bob, eve], by: ann),
                try await bench.open("conversation", [bob, eve], by: ann)
            )
            try await bench.remove(ann, from: one, by: bob)
            #expect(await bench.people.state { try await bench.context.deleteMessageStream(one, for: ann) } == "left")
            try await bench.remove(eve, from: one, by: eve)
            try await bench.context.deleteMessageStream(one, for: bob)
            _ = try await bench.context.erasePersonalData(for: ann)
            try await bench.remove(eve, from: two, by: eve)
            try await bench.context.deleteMessageStream(two, for: bob)
            await #expect(throws: Refusal(.notFound, "")) { try await bench.read(two, by: bob) }
        }
    }

    @Test("but not to a banned member, who cannot destroy what others wrote, nor to a removed one")
    func banned() async throws {
        try await MessageBench.run { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            try await bench.permit(ann, bob)
            let (others, own) = (
                try await bench.open("conversation", [bob], by: ann),
                try await bench.open("conversation", [ann], by: bob)
            )
            let order = try BanOrder(
                target: .user(bob.userID.description), scope: .messaging, reason: try #require(BanBench.spam),
                note: nil, endsAt: nil, withDevices: false)
            let admin = Administration(
                store: bench.context.store, environment: bench.context.environment, actor: "admin test"
            ) { bench.people.keys }
            _ = try await admin.addBan(order, upTo: nil)
            await #expect(throws: Refusal(.userBanned, "", banReason: BanBench.spam)) {
                try await bench.context.deleteMessageStream(others, for: bob)
            }
            try await bench.context.deleteMessageStream(own, for: bob)
        }
    }

    @Test("and a forum to its creator, without whom it stays, and its writers delete their own messages")
    func forum() async throws {
        try await MessageBench.run { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            let forum = try await bench.open("forum", by: ann)
            try await bench.send("of ann", to: forum, by: ann)
            let message = try await bench.send("of bob", to: forum, by: bob).id.description
            _ = try await bench.context.erasePersonalData(for: ann)
            await #expect(throws: Refusal(.notFound, "")) {
                try await bench.context.deleteMessageStream(forum, for: bob)
            }
            #expect(try await bench.read(forum, by: bob) == ["1 -", "2 of bob"])
            try await bench.context.deleteMessage(message, in: forum, for: bob)
            #expect(try await bench.read(forum, by: bob) == ["1 -", "2 -"])
        }
    }
}
