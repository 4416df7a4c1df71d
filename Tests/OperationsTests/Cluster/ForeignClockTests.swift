import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

/// A node whose own clock, or whose memory of the store, is not the store's.
@Suite("A node beside its store's time")
struct ForeignClockTests {
    /// A watch of its own over the fixture's store, by a clock that is so many seconds ahead.
    private func watch(_ fixture: ServiceFixture, ahead: TimeInterval, policy: Policy = Policy()) -> (
        CacheInvalidator, ServingNode
    ) {
        let node = ServingNode(caches: Caches(store: fixture.store))
        let clock = fixture.clock
        let watch = CacheInvalidator(
            store: fixture.store, node: node, policy: CurrentPolicy(policy),
            environment: Environment(now: { clock.now.addingTimeInterval(ahead) }))
        return (watch, node)
    }

    @Test("Housekeeping by a clock that is a day ahead forgets no nonce that can still be shown, and no session")
    func housekeeping() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let token = try fixture.identityToken("alice", on: connection)
            let opened = try await fixture.context.openSession(identityToken: token, applicationID: nil, on: connection)
            let upkeep = Housekeeping(fixture.context(ahead: 2 * 86_400))
            try await upkeep()
            await #expect(throws: Refusal(.invalidIdentityToken, "", reason: .nonceUsed)) {
                try await fixture.context.openSession(identityToken: token, applicationID: nil, on: connection)
            }
            let text = try #require(opened.token).text.reveal()
            #expect(try await fixture.context.checkSession(text, on: connection).id == opened.session.id)
        }
    }

    @Test("A clock that differs more than the policy allows decides nothing, ahead and behind", arguments: [31.0, -31])
    func difference(ahead: TimeInterval) async throws {
        try await ServiceFixture.run { fixture in
            let (watch, _) = watch(fixture, ahead: ahead)
            try await watch.poll()
            #expect(watch.clockDifference == ahead)
            #expect(throws: Refusal(.unavailable, "")) { try watch.requireFresh() }
            let (near, _) = self.watch(fixture, ahead: ahead * 29 / 31)
            try await near.poll()
            #expect(near.isClockRight)
            try near.requireFresh()
        }
    }

    @Test(
        "What a node remembers is dropped where it cannot tell what it missed",
        arguments: ["DELETE FROM change_log", "UPDATE change_log_incarnation SET value = 'another'"])
    func missed(sql: String) async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            _ = try await fixture.opened("bob", on: connection)
            let text = try #require(opened.token).text.reveal()
            var policy = Policy()
            policy.bans.maximumStaleness = 0
            let (watch, node) = watch(fixture, ahead: 0, policy: policy)
            let service = fixture.context(node: node)
            try await fixture.context.endSession(text, on: connection)
            try await watch.poll()
            let other = try await fixture.opened("carol", on: connection)
            let otherText = try #require(other.token).text.reveal()
            _ = try await service.checkSession(otherText, on: connection)
            try await fixture.context.endSession(otherText, on: connection)
            // The change that tells of it is gone, or of a time before what this node has seen.
            try await fixture.store.write { try $0.execute(sql) }
            try await watch.poll()
            await #expect(throws: Refusal(.sessionDestroyed, "")) {
                try await service.checkSession(otherText, on: connection)
            }
        }
    }
}
