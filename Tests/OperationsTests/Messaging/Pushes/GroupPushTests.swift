import Domain
import Encoding
import Fixtures
import Testing

@testable import Operations

@Suite("Pushes of messages")
struct GroupPushTests {
    @Test(
        "of a group name the newest message that the member may see, and one that names none stands in the way of none",
        arguments: StoreKind.shared)
    func hidden(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) {
            $0.streams.conversationRequires = .provider
        } _: { bench in
            let people = bench.people
            let (ann, bob) = (try await people.person("ann"), try await people.person("bob"))
            let eve = try await people.person("eve", hasEndpoint: false)
            let stream = try await bench.open("conversation", [bob, eve], by: ann)
            func pushed() async throws -> [String] {
                let before = people.pushes.sent.count
                people.clock.advance(PushMessages.patience)
                _ = try await people.deliver()
                return Array(people.pushes.endpoints.dropFirst(before))
            }
            let first = try await bench.send("deleted at once", to: stream, by: eve)
            try await bench.context.deleteMessage(first.id.description, in: stream, for: eve)
            #expect(try await !pushed().contains("bob"))
            try await bench.send("hello", to: stream, by: ann)
            let second = try await bench.send("deleted too", to: stream, by: eve)
            try await bench.context.deleteMessage(second.id.description, in: stream, for: eve)
            #expect(try await pushed().contains("bob"))
            #expect(try people.pushes.data()["address"]?.text == "test/ann")
        }
    }
}
