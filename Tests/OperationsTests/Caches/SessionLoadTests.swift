import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Synchronization
import Testing

@testable import Operations

/// A store that does something behind its next reads, before their reader has the answer.
private final class OvertakenStore: Database {
    private let store: any Database
    private let acts = Mutex<[@Sendable () -> Void]>([])
    private let reads = Atomic<Int>(0)

    init(_ store: any Database) { self.store = store }

    func overtake(_ times: Int = 1, _ act: @escaping @Sendable () -> Void) {
        acts.withLock { $0 = Array(repeating: act, count: times) }
    }

    /// How many reads there were.
    var count: Int { reads.load(ordering: .relaxed) }

    func read<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        reads.add(1, ordering: .relaxed)
        let result = try await store.read(body)
        acts.withLock { $0.popLast() }?()
        return result
    }

    func write<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await store.write(body)
    }

    func tables() async throws -> [TableShape] { try await store.tables() }
    func changeStamp() throws -> Int64 { try store.changeStamp() }
    func check() async throws { try await store.check() }
    func close() async throws {}
}

@Suite("Sessions in memory beside changes")
struct SessionLoadTests {
    @Test("are not kept if what they depend on changed while they were read, though nothing of it was in memory")
    func overlap() async throws {
        try await withStore { store in
            let cache = SessionCache(store: store)
            let session = Session.remembered(1)
            let changes: [(String, () -> Void)] = [
                ("user", { cache.invalidate(.gate(.user(session.userID))) }),
                ("device", { cache.invalidate(.gate(.device(session.deviceID))) }),
                ("provider", { cache.invalidate(.gate(.provider(session.providerID))) }),
                ("key", { cache.invalidate(.gate(.providerKey(session.providerKeyID))) }),
                ("token", { cache.invalidate(.token(session.tokenHash)) }), ("everything", { cache.dropAll() }),
            ]
            for (name, change) in changes {
                let mark = cache.mark
                change()
                #expect(cache.remember(session, since: mark) == nil, "\(name)")
            }
            let mark = cache.mark
            cache.invalidate(.gate(.user(UserID(UUID()))))
            cache.invalidate(.token(.of("another token")))
            #expect(cache.remember(session, since: mark) != nil)
        }
    }

    @Test("are read again if a change overtook the first look at the store")
    func overtaken() async throws {
        try await ServiceFixture.run { fixture in
            let opened = try await fixture.opened("alice", on: try await fixture.connectNewDevice()).session
            let store = OvertakenStore(fixture.store)
            let cache = SessionCache(store: store)
            store.overtake { cache.invalidate(.gate(.user(opened.userID))) }
            #expect(try await cache.find(opened.tokenHash, of: opened.id)?.session.id == opened.id)
            #expect(store.count == 2)
            #expect(try await cache.find(opened.tokenHash, of: opened.id)?.session.id == opened.id)
            #expect(store.count == 2)
        }
    }

    @Test("are remembered beside a stream of changes of others")
    func foreignChanges() async throws {
        try await withStore { store in
            let cache = SessionCache(store: store)
            for number in 0..<1000 {
                let session = Session.remembered(number)
                let mark = cache.mark
                cache.invalidate(.token(.of("another token \(number)")))
                cache.invalidate(.gate(.user(UserID(UUID()))))
                cache.invalidate(.gate(.device(DeviceID(UUID()))))
                #expect(cache.remember(session, since: mark) != nil)
            }
            #expect(cache.count == 1000)
        }
    }

    @Test("are read once beside a stream of changes of others")
    func foreignChangesOfLoads() async throws {
        try await ServiceFixture.run { fixture in
            let store = OvertakenStore(fixture.store)
            let cache = SessionCache(store: store)
            for number in 1...5 {
                let opened = try await fixture.opened("user \(number)", on: try await fixture.connectNewDevice())
                store.overtake(8) {
                    cache.invalidate(.token(.of("another token")))
                    cache.invalidate(.gate(.user(UserID(UUID()))))
                }
                #expect(try await cache.find(opened.session.tokenHash, of: opened.session.id) != nil)
                #expect(store.count == number)
                #expect(cache.count == number)
            }
        }
    }

    @Test("are used and not remembered if each look at the store was overtaken")
    func alwaysOvertaken() async throws {
        try await ServiceFixture.run { fixture in
            let opened = try await fixture.opened("alice", on: try await fixture.connectNewDevice()).session
            let store = OvertakenStore(fixture.store)
            let cache = SessionCache(store: store)
            store.overtake(4) { cache.invalidate(.gate(.user(opened.userID))) }
            #expect(try await cache.find(opened.tokenHash, of: opened.id)?.session.id == opened.id)
            #expect(store.count == 4)
            #expect(cache.count == 0 && cache.placeCount == 0)
            cache.dropIdle(since: .distantPast)
            #expect(cache.gateCount == 0)
        }
    }

    @Test("are not kept if more has changed since than is remembered of changes")
    func manyChanges() {
        let changes = RecentChanges(capacity: 4)
        let user = RecentChanges.Subject.gate(.user(UserID(UUID())))
        let mark = changes.mark
        func change(_ count: Int) { for _ in 0..<count { changes.note(.gate(.user(UserID(UUID())))) } }
        change(4)
        #expect(changes.isUntouched([user], since: mark))
        change(1)
        #expect(!changes.isUntouched([user], since: mark))
        #expect(changes.isUntouched([user], since: changes.mark))
        changes.note(user)
        let later = changes.mark
        change(3)
        #expect(changes.isUntouched([user], since: later))
        #expect(!changes.isUntouched([user], since: later - 1))
    }

    @Test("are never older than a change that was applied, with readers, changes and housekeeping at once")
    func races() async throws {
        try await withStore { store in
            let (cache, session, stored) = (SessionCache(store: store), Session.remembered(1), StoredVersion())
            // The version that a reader found is when the session was created.
            let load: @Sendable () -> Void = {
                let mark = cache.mark
                cache.remember(Self.version(stored.present, of: session), since: mark)
            }
            let isStale: @Sendable () -> Bool = {
                guard let known = cache.known(session.tokenHash) else { return false }
                return known.session.createdAt < Session.now + Double(stored.present)
            }
            let changes: [@Sendable () -> Void] = [
                { cache.invalidate(.gate(.user(session.userID))) }, { cache.invalidate(.token(session.tokenHash)) },
                { cache.invalidate(.gate(.device(session.deviceID))) }, { cache.dropAll() },
                { cache.invalidate(.gate(.provider(session.providerID))) },
                { cache.invalidate(.gate(.providerKey(session.providerKeyID))) },
            ]
            let stale = await withTaskGroup(of: Int.self) { group in
                for reader in 0..<2 {
                    group.addTask {
                        for round in 0..<100_000 where !stored.isFinal {
                            for _ in 0..<20 { load() }
                            if reader == 0, round.isMultiple(of: 16) { cache.dropIdle(since: .distantPast) }
                            await Task.yield()
                        }
                        return 0
                    }
                }
                group.addTask {
                    var stale = 0
                    for number in 0..<1000 {
                        for _ in 0..<1000 where cache.known(session.tokenHash) == nil { await Task.yield() }
                        if isStale() { stale += 1 }
                        stored.raise()
                        changes[number % changes.count]()
                        if isStale() { stale += 1 }
                    }
                    stored.end()
                    return stale
                }
                return await group.reduce(0, +)
            }
            #expect(stale == 0)
            load()
            #expect(cache.known(session.tokenHash)?.session.createdAt == Session.now + 1000)
        }
    }

    private final class StoredVersion: Sendable {
        private let number = Atomic<Int>(0)
        private let hasEnded = Atomic<Bool>(false)
        var present: Int { number.load(ordering: .sequentiallyConsistent) }
        /// Whether there is no later one.
        var isFinal: Bool { hasEnded.load(ordering: .sequentiallyConsistent) }
        func raise() { number.add(1, ordering: .sequentiallyConsistent) }
        func end() { hasEnded.store(true, ordering: .sequentiallyConsistent) }
    }

    private static func version(_ version: Int, of like: Session) -> Session {
        Session(
            id: like.id, tokenHash: like.tokenHash, userID: like.userID, providerID: like.providerID,
            externalID: like.externalID, applicationID: like.applicationID, deviceID: like.deviceID,
            thumbprint: like.thumbprint, providerKeyID: like.providerKeyID, state: like.state,
            createdAt: Session.now + Double(version), renewedAt: like.renewedAt, lastUsedAt: like.lastUsedAt,
            challengedAt: nil)
    }
}
