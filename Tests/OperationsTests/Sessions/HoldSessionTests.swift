import Domain
import Fixtures
import Testing

@testable import Operations

@Suite("A session that has a connection for itself")
struct HoldSessionTests {
    private func token(_ opened: Service.OpenedSession) throws -> String { try #require(opened.token).text.reveal() }

    @Test("holds until it ends; looking at it is no use of it")
    func ends() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let token = try token(try await fixture.opened("alice", on: connection))
            let held = try await fixture.context.holdSession(token, on: connection)
            for _ in 0..<3 {
                fixture.clock.advance(1200)
                _ = fixture.context.verdictFromMemory(held, on: connection)
                _ = await fixture.context.verdict(held, on: connection)
            }
            try await fixture.watch.poll()
            #expect(await fixture.context.verdict(held, on: connection) == .challenged)
            await #expect(throws: Refusal(.sessionChallenged, "")) {
                try await fixture.context.holdSession(token, on: connection)
            }
            try await fixture.context.endSession(token, on: connection)
            #expect(await fixture.context.verdict(held, on: connection) == .ended)
            await #expect(throws: Refusal(.sessionDestroyed, "")) {
                try await fixture.context.holdSession(token, on: connection)
            }
            await #expect(throws: Refusal(.sessionDestroyed, "")) {
                try await fixture.context.holdSession("no token", on: connection)
            }
        }
    }

    @Test("is not looked for where a device shows too many tokens, and is again after a while")
    func limited() async throws {
        var policy = Policy()
        policy.requests.readsPerMinute = 2
        try await ServiceFixture.run(policy) { fixture in
            let connection = try await fixture.connectNewDevice()
            let token = try token(try await fixture.opened("alice", on: connection))
            for _ in 0..<2 {
                await #expect(throws: Refusal(.sessionDestroyed, "")) {
                    try await fixture.context.holdSession("no token", on: connection)
                }
            }
            await #expect(throws: Refusal(.rateLimited, "")) {
                try await fixture.context.holdSession(token, on: connection)
            }
            fixture.clock.advance(30)
            _ = try await fixture.context.holdSession(token, on: connection)
        }
    }

    @Test("is challenged where another device shows its token, and held by neither")
    func mismatch() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let token = try token(try await fixture.opened("alice", on: connection))
            let held = try await fixture.context.holdSession(token, on: connection)
            #expect(fixture.context.verdictFromMemory(held, on: connection) == .holds)
            let other = try await fixture.connectNewDevice()
            #expect(await fixture.context.verdict(held, on: other) == .ended)
            await #expect(throws: Refusal(.bindingMismatch, "")) {
                try await fixture.context.holdSession(token, on: other)
            }
            #expect(await fixture.context.verdict(held, on: connection) == .challenged)
        }
    }

    @Test("wakes its connection for a change of its user, and for nobody's limit of calls that wait")
    func changes() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let user = try await fixture.opened("alice", on: connection).session.userID
            let watch = fixture.context.watchMessages(of: user)
            let polls = fixture.context.node.messagePolls
            let topics: Set<RecentChanges.Subject> = [.gate(.user(user))]
            let place = try #require(polls.enter(topics, of: user, limit: 1))
            #expect(polls.enter(topics, of: user, limit: 1) == nil)
            polls.leave(place)
            polls.wake(topics)
            var count = 0
            for await _ in watch.changes {
                count += 1
                watch.end()
            }
            #expect(count == 1)
            watch.end()
            polls.wake(topics)
        }
    }
}
