import Domain
import Fixtures
import Foundation
import Testing

@testable import Operations

/// How polls are answered, and how many.
extension EventStreamTests {
    @Test("answer so many polls that take events in a minute as the policy allows, and any number that take none")
    func limited() async throws {
        var policy = Policy()
        policy.accessTokens.provenPerMinute = 3
        try await ServiceFixture.run(policy) { fixture in
            let bench = try BanBench(fixture)
            let alice = try await bench.phones.person("alice")
            let (stream, backend) = (try await stream(fixture), try await fixture.backend())
            let service = fixture.context(rateLimiting: .on)
            for _ in 0..<5 {
                #expect(try await service.pollEvents(question(), of: stream.id, by: backend).tokens.isEmpty)
            }
            try await end(alice, in: fixture)
            for _ in 0..<3 {
                #expect(try await service.pollEvents(question(), of: stream.id, by: backend).tokens.count == 1)
            }
            // Read anew, it begins no new minute.
            fixture.providers.drop(backend.id)
            let again = try await fixture.backend()
            await #expect(throws: Refusal(.rateLimited, "")) {
                _ = try await service.pollEvents(question(), of: stream.id, by: again)
            }
            fixture.clock.advance(60)
            #expect(try await service.pollEvents(question(), of: stream.id, by: backend).tokens.count == 1)
        }
    }

    @Test("reserve memory for events before they are signed, and nothing without an event")
    func reserved() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let alice = try await bench.phones.person("alice")
            let (stream, backend) = (try await stream(fixture), try await fixture.backend())
            let service = fixture.context
            _ = try await service.pollEvents(question(), of: stream.id, by: backend) { _ in
                Issue.record("reserved without an event")
            }
            try await end(alice, in: fixture)
            await #expect(throws: Refusal.tooManyPolls) {
                _ = try await service.pollEvents(question(), of: stream.id, by: backend) { bytes in
                    #expect(bytes == PolledEvents.usualSize)
                    throw Refusal.tooManyPolls
                }
            }
            let answer = try await service.pollEvents(question(), of: stream.id, by: backend) { _ in }
            #expect(answer.tokens.allSatisfy { $0.token.utf8.count <= PolledEvents.usualSize })
            #expect(answer.tokens.count == 1)
        }
    }

    @Test("answer the receiver that waits for an event when there is one")
    func waiting() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            _ = try await bench.phones.person("alice")
            let (stream, backend) = (try await stream(fixture), try await fixture.backend())
            let (service, waits) = (fixture.context, question(immediate: false))
            async let answer = service.pollEvents(waits, of: stream.id, by: backend)
            try await fixture.context.endUserSessions(of: "alice", at: backend)
            #expect(try await answer.tokens.count == 1)
        }
    }

    @Test("let a poll without an event wait between its looks at the store, each time")
    func quiet() async throws {
        let polls = WaitingPolls<EventStreamID, ProviderID>()
        let (stream, provider) = (EventStreamID(UUID()), ProviderID(UUID()))
        let place = try #require(polls.enter([stream], of: provider, limit: 1))
        #expect(polls.enter([stream], of: provider, limit: 1) == nil)
        let start = ContinuousClock.now
        for _ in 0..<3 { await place.wait(0.2) }
        #expect(ContinuousClock.now - start >= .milliseconds(600))
        polls.wake([stream])
        await place.wait(3600)
        polls.leave(place)
        #expect(polls.enter([stream], of: provider, limit: 1) != nil)
    }
}
