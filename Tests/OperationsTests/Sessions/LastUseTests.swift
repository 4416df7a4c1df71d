import Database
import Domain
import Fixtures
import Foundation
import Repositories
import Synchronization
import Testing

@testable import Operations

@Suite("Last uses of sessions")
struct LastUseTests {
    private static func lastUse(_ session: Session, in store: any Database) async throws -> Date? {
        try await store.read { try SessionRepository($0).find(session.id)?.lastUsedAt }
    }

    @Test("No request writes one; they are written together, the latest of each session", arguments: StoreKind.all)
    func path(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let connection = try await fixture.connectNewDevice()
            let first = try await fixture.opened("alice", on: connection)
            let second = try await fixture.opened("bob", on: connection)
            let store = CountingStore(fixture.store)
            let context = fixture.context(store: store)
            fixture.clock.advance(1000)
            for _ in 0..<5 {
                for opened in [first, second] {
                    _ = try await context.checkSession(try #require(opened.token).text.reveal(), on: connection)
                }
                fixture.clock.advance(300)
            }
            #expect(store.counts.writes == 0)
            #expect(try await Self.lastUse(first.session, in: fixture.store) == first.session.lastUsedAt)
            #expect(context.caches.lastUses.count == 2)
            try await WriteLastUses(context)()
            #expect(store.counts.writes == 1)
            for session in [first.session, second.session] {
                let moment = fixture.clock.now.addingTimeInterval(-300)
                #expect(try await Self.lastUse(session, in: fixture.store) == moment)
            }
            try await WriteLastUses(context)()
            #expect(store.counts.writes == 1)
        }
    }

    @Test("A session in use on one node is idle on no other, however short the idle lifetime", arguments: [60.0, 3600])
    func otherNode(idleLifetime: TimeInterval) async throws {
        var policy = Policy()
        policy.sessions.idleLifetime = idleLifetime
        try await ServiceFixture.run(policy) { fixture in
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            let token = try #require(opened.token).text.reveal()
            let other = fixture.context(node: ServingNode(caches: Caches(store: fixture.store)))
            let write = WriteLastUses(fixture.context)
            let (policy, step) = (fixture.policy[\.sessions], idleLifetime / 2 - 1)
            var writtenAt = fixture.clock.now
            for round in 1...9 {
                // Uses lie as far apart as may be, and each is written as late as may be.
                for _ in 0..<Int(step) {
                    fixture.clock.advance(1)
                    guard fixture.clock.now.timeIntervalSince(writtenAt) >= policy.useWriteInterval else { continue }
                    writtenAt = fixture.clock.now
                    try await write()
                }
                // The other node has not been shown it itself for longer than the idle lifetime.
                if round.isMultiple(of: 3) { _ = try await other.checkSession(token, on: connection) }
                _ = try await fixture.context.checkSession(token, on: connection)
            }
        }
    }

    @Test("What was noted is not lost while the store is away, and is bounded")
    func away() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            let store = CountingStore(fixture.store)
            let context = fixture.context(store: store)
            fixture.clock.advance(1000)
            _ = try await context.checkSession(try #require(opened.token).text.reveal(), on: connection)
            store.isAway = true
            await #expect(throws: Refusal(.unavailable, "")) { try await WriteLastUses(context)() }
            #expect(context.caches.lastUses.count == 1)
            store.isAway = false
            try await WriteLastUses(context)()
            #expect(try await Self.lastUse(opened.session, in: fixture.store) == fixture.clock.now)
            let uses = LastUses(limit: 2)
            let ids = (0..<3).map { _ in SessionID(UUID()) }
            #expect(ids.map { uses.note($0, at: fixture.clock.now) } == [true, true, false])
            #expect(uses.note(ids[0], at: fixture.clock.now))
            #expect(uses.takeAll().count == 2)
            #expect(uses.note(ids[2], at: fixture.clock.now))
        }
    }

    @Test("A node that stops writes what it has noted")
    func stop() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            fixture.clock.advance(1000)
            _ = try await fixture.context.checkSession(try #require(opened.token).text.reveal(), on: connection)
            let failures = Mutex(0)
            let write = WriteLastUses(fixture.context)
            let loop = Task { await write.run { _ in failures.withLock { $0 += 1 } } }
            loop.cancel()
            await loop.value
            #expect(failures.withLock { $0 } == 0)
            #expect(try await Self.lastUse(opened.session, in: fixture.store) == fixture.clock.now)
        }
    }
}
