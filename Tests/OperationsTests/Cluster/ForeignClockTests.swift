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
    /// A watch of its own over the house's store, by a clock that is so many seconds ahead.
    private func watch(_ house: House, ahead: TimeInterval, policy: Policy = Policy()) -> (StoreWatch, LiveSessions) {
        let sessions = LiveSessions(store: house.store)
        let clock = house.clock
        let watch = StoreWatch(
            store: house.store, sessions: sessions, certificates: LiveCertificates(store: house.store),
            providers: KnownProviders(store: house.store), policy: CurrentPolicy(policy),
            surroundings: Surroundings(now: { clock.now.addingTimeInterval(ahead) })
        ) { _ in }
        return (watch, sessions)
    }

    @Test("Housekeeping by a clock that is a day ahead forgets no nonce that can still be shown, and no session")
    func housekeeping() async throws {
        try await House.inhabit { house in
            let connection = try await house.connectNewDevice()
            let token = try house.identityToken("alice", on: connection)
            let opened = try await house.open(identityToken: token, applicationID: nil, on: connection)
            let clock = house.clock
            let upkeep = Housekeeping(
                store: house.store, sessions: house.sessions, certificates: house.certificates, policy: house.policy,
                surroundings: Surroundings(now: { clock.now.addingTimeInterval(2 * 86_400) }))
            try await upkeep()
            await #expect(throws: Refusal(.invalidIdentityToken, "", reason: "nonce_used")) {
                try await house.open(identityToken: token, applicationID: nil, on: connection)
            }
            let text = try #require(opened.token).text.reveal()
            #expect(try await house.check(text, on: connection).id == opened.session.id)
        }
    }

    @Test("A clock that differs more than the policy allows decides nothing, ahead and behind", arguments: [31.0, -31])
    func difference(ahead: TimeInterval) async throws {
        try await House.inhabit { house in
            let (watch, _) = watch(house, ahead: ahead)
            try await watch.poll()
            #expect(watch.clockDifference == ahead)
            #expect(throws: Refusal(.unavailable, "")) { try watch.requireFresh() }
            let (near, _) = self.watch(house, ahead: ahead * 29 / 31)
            try await near.poll()
            #expect(near.isClockRight)
            try near.requireFresh()
        }
    }

    @Test(
        "What a node remembers is dropped where it cannot tell what it missed",
        arguments: ["DELETE FROM changes", "UPDATE change_counter SET value = 0"])
    func missed(sql: String) async throws {
        try await House.inhabit { house in
            let connection = try await house.connectNewDevice()
            let opened = try await house.opened("alice", on: connection)
            _ = try await house.opened("bob", on: connection)
            let text = try #require(opened.token).text.reveal()
            var policy = Policy()
            policy.bans.maximumStaleness = 0
            let (watch, sessions) = watch(house, ahead: 0, policy: policy)
            let clock = house.clock
            let check = CheckSession(
                store: house.store, sessions: sessions, policy: house.policy,
                surroundings: Surroundings(now: { clock.now }))
            try await house.end.current(text, on: connection)
            try await watch.poll()
            let other = try await house.opened("carol", on: connection)
            let otherText = try #require(other.token).text.reveal()
            _ = try await check(otherText, on: connection)
            try await house.end.current(otherText, on: connection)
            // The change that tells of it is gone, or of a time before what this node has seen.
            try await house.store.write { try $0.execute(sql) }
            try await watch.poll()
            await #expect(throws: Refusal(.sessionDestroyed, "")) { try await check(otherText, on: connection) }
        }
    }
}
