import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("Sessions in memory")
struct SessionCacheTests {
    @Test("are what was read, in every state", arguments: Session.State.allCases)
    func equal(state: Session.State) async throws {
        try await withStore { store in
            let (cache, session) = (SessionCache(store: store), Session.remembered(1, state: state))
            #expect(cache.remember(session, since: cache.mark)?.session == session)
            let found = try await cache.find(session.tokenHash, of: session.id)
            #expect(found?.session == session)
        }
    }

    @Test("are all forgotten with a change of what they depend on, and the others are not")
    func gates() async throws {
        try await withStore(migrations: Schema.migrations) { store in
            let cache = SessionCache(store: store)
            let shared = Session.remembered(0)
            let (mine, others) = (
                (1...100).map {
                    Session.remembered(
                        $0, user: shared.userID, device: shared.deviceID, provider: shared.providerID,
                        key: shared.providerKeyID)
                }, (101...200).map { Session.remembered($0) }
            )
            let gates: [RevocationScope] = [
                .user(shared.userID), .device(shared.deviceID), .provider(shared.providerID),
                .providerKey(shared.providerKeyID),
            ]
            for session in others { cache.remember(session, since: cache.mark) }
            for gate in gates {
                for session in mine { cache.remember(session, since: cache.mark) }
                #expect(cache.count == 200)
                cache.invalidate(.gate(gate))
                #expect(cache.count == 100)
                let found = (
                    try await cache.find(mine[0].tokenHash, of: mine[0].id),
                    try await cache.find(others[0].tokenHash, of: others[0].id)
                )
                #expect(found.0 == nil && found.1 != nil)
            }
        }
    }

    @Test("of one device under two certificates, or one provider's two apps, are all forgotten with it")
    func contents() async throws {
        try await withStore { store in
            let (cache, device, provider) = (SessionCache(store: store), DeviceID(UUID()), ProviderID(UUID()))
            for (number, name) in ["old", "new", "old"].enumerated() {
                let session = Session.remembered(number, device: device, certificate: name)
                #expect(cache.remember(session, since: cache.mark)?.session == session)
            }
            #expect(cache.gateCount == 3 + 1 + 3 + 3)
            cache.invalidate(.gate(.device(device)))
            #expect(cache.count == 0)
            let apps = [ApplicationID(UUID()), ApplicationID(UUID())]
            for number in 3..<9 {
                let session = Session.remembered(number, provider: provider, app: apps[number % 2])
                #expect(cache.remember(session, since: cache.mark)?.session == session)
            }
            cache.invalidate(.gate(.provider(provider)))
            #expect(cache.count == 0)
            cache.dropIdle(since: .distantPast)
            #expect(cache.placeCount == 0 && cache.gateCount == 0)
        }
    }

    @Test("are not looked at by a change, however many depend on what changed: one gate is")
    func constantCost() async throws {
        try await withStore { store in
            let (shared, count) = (Session.remembered(0), 5000)
            let gates: [RevocationScope] = [
                .user(shared.userID), .device(shared.deviceID), .provider(shared.providerID),
                .providerKey(shared.providerKeyID),
            ]
            for gate in gates {
                let cache = SessionCache(store: store)
                for number in 0..<count {
                    let session = Session.remembered(
                        number, user: shared.userID, device: shared.deviceID, provider: shared.providerID,
                        key: shared.providerKeyID, app: shared.applicationID)
                    cache.remember(session, since: cache.mark)
                }
                #expect((cache.count, cache.placeCount, cache.gateCount) == (count, count, 4))
                cache.invalidate(.gate(gate))
                // Nobody has walked the table: the places are still there, and nothing is found in them.
                #expect((cache.count, cache.placeCount, cache.gateCount) == (0, count, 3))
                cache.dropIdle(since: .distantPast)
                #expect((cache.placeCount, cache.gateCount) == (0, 0))
            }
        }
    }

    @Test("stay as they are at notices about others who have none")
    func noticesAboutOthers() async throws {
        try await withStore(migrations: Schema.migrations) { store in
            let node = ServingNode(caches: Caches(store: store))
            let (cache, session) = (node.caches.sessions, Session.remembered(1))
            let cached = try #require(cache.remember(session, since: cache.mark))
            try await node.apply([
                .user(UserID(UUID())), .bannedUser(UserID(UUID())), .device(DeviceID(UUID())),
                .provider(ProviderID(UUID())), .providerKey(ProviderKeyID(UUID())), .providerKeys(session.providerID),
                .session(.of("another token")),
            ])
            #expect(cache.known(session.tokenHash) === cached)
            #expect((cache.placeCount, cache.gateCount) == (1, 4))
            try await node.apply([.user(session.userID)])
            #expect(cache.known(session.tokenHash) == nil)
        }
    }

    @Test("take 144 bytes of the heap each beyond their gates")
    func size() async throws {
        try await withStore { store in
            let (cache, session) = (SessionCache(store: store), Session.remembered(1))
            let cached = try #require(cache.remember(session, since: cache.mark))
            // The allocator adds a word of its own.
            #expect(usableSize(Unmanaged.passUnretained(cached).toOpaque()) + 8 == 144)
        }
    }

    @Test("leave nothing behind once they were not used for a while, nor do those that were ended")
    func idle() async throws {
        try await withStore { store in
            let (cache, uses) = (SessionCache(store: store), LastUses())
            let sessions = (0..<300).map { Session.remembered($0) }
            for session in sessions { cache.remember(session, since: cache.mark) }
            #expect(cache.gateCount == 1200)
            for session in sessions.prefix(50) { cache.invalidate(.gate(.user(session.userID))) }
            for session in sessions[50..<100] { cache.invalidate(.token(session.tokenHash)) }
            let policy = SessionPolicy()
            for session in sessions.suffix(100) {
                let found = try await cache.find(session.tokenHash, of: session.id)
                found?.touch(now: Session.now + 100, policy: policy, in: uses)
            }
            cache.dropIdle(since: Session.now + 50)
            #expect((cache.count, cache.placeCount) == (100, 100))
            #expect(cache.gateCount == 400)
            cache.dropIdle(since: Session.now + 200)
            #expect((cache.count, cache.placeCount, cache.gateCount) == (0, 0, 0))
        }
    }

    @Test("have a use noted each interval, whoever sees it first, and again if there was no room for it")
    func uses() async throws {
        try await withStore { store in
            let (cache, session, policy) = (SessionCache(store: store), Session.remembered(1), SessionPolicy())
            let (uses, full) = (LastUses(), LastUses(limit: 0))
            let cached = try #require(cache.remember(session, since: cache.mark))
            let later = session.lastUsedAt + policy.useInterval
            cached.touch(now: later - 1, policy: policy, in: uses)
            #expect(uses.takeAll().isEmpty)
            cached.touch(now: later, policy: policy, in: full)
            cached.touch(now: later + 1, policy: policy, in: uses)
            #expect(uses.takeAll() == [Session.Use(id: session.id, at: later + 1)])
            cached.touch(now: later + 2, policy: policy, in: uses)
            #expect(uses.takeAll().isEmpty)
            #expect(cached.session.lastUsedAt == later + 2)
        }
    }
}

/// How much of a place on the heap may be used (malloc_usable_size(3)).
@_silgen_name("malloc_usable_size") private func usableSize(_ place: UnsafeMutableRawPointer) -> Int
