import Authority
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Synchronization
import Testing

@testable import Operations

@Suite("The revocation list")
struct RevocationListTests {
    /// Writes revoked certificates as the service itself would have, without signing each.
    static func revoke(_ count: Int, in store: any Database, seed: Int = 0) async throws {
        let device = DeviceID(UUID())
        try await store.write { transaction in
            let now = transaction.now
            _ = try DeviceRepository(transaction).insert(device, userAgent: nil, presenceKey: nil, at: now)
            for number in seed..<seed + count {
                let serial = String(repeating: "0", count: 24) + String(0x1000_0000 + number, radix: 16)
                try CertificateRepository(transaction).insert(
                    DeviceCertificate(
                        serial: serial, thumbprint: Digest256.of("certificate \(number)"), deviceID: device,
                        keyHash: Digest256.of("key \(number)"), notBefore: now, notAfter: now + 86_400, issuedAt: now,
                        replaces: nil, firstSeenAt: nil, revoked: .init(at: now, reason: "keyCompromise")),
                    subjectPublicKeyInfo: [], authority: .of("authority"))
            }
            try ChangeLog(transaction).append(.device(device))
        }
    }

    private static func publisher(_ fixture: ServiceFixture, _ store: any Database) throws -> PublishRevocationList {
        let clock = fixture.clock
        return PublishRevocationList(
            store: store, authority: fixture.context.keys.authority, environment: Environment(now: { clock.now }))
    }

    @Test("is of the authority that is asked for, with the same entries and a number of its own")
    func authorities() async throws {
        try await ServiceFixture.run { fixture in
            try await Self.revoke(3, in: fixture.store)
            let former = try TestAuthority().authority
            let clock = fixture.clock
            let lists = RevocationLists([
                try Self.publisher(fixture, fixture.store),
                PublishRevocationList(
                    store: fixture.store, authority: former, environment: Environment(now: { clock.now })),
            ])
            let own = try #require(lists.of(nil))
            let other = try #require(lists.of(former.id.base64URL))
            #expect(lists.of(fixture.context.keys.authority.id.base64URL) === own && other !== own)
            #expect(lists.of("another") == nil)
            let documents = [try await own.document(), try await other.document()]
            #expect(documents.map(\.entries) == [3, 3] && documents.map(\.number) == [1, 1])
            #expect(documents[0].der != documents[1].der)
            try await Self.revoke(1, in: fixture.store, seed: 3)
            lists.suspect()
            #expect(try await own.document().number == 2)
            #expect(try await other.document().entries == 4)
        }
    }

    @Test("is made once for five hundred who ask at once, and then comes from memory without a question to the store")
    func singleFlight() async throws {
        try await ServiceFixture.run { fixture in
            try await Self.revoke(1000, in: fixture.store)
            let store = CountingStore(fixture.store)
            let publish = try Self.publisher(fixture, store)
            func ask(_ count: Int) async throws -> Set<ObjectIdentifier> {
                try await withThrowingTaskGroup(of: PublishRevocationList.Document.self) { group in
                    for _ in 0..<count { group.addTask { try await publish.document() } }
                    var lists: [PublishRevocationList.Document] = []
                    for try await list in group { lists.append(list) }
                    #expect(lists.allSatisfy { $0.entries == 1000 && $0.number == 1 })
                    return Set(lists.map(ObjectIdentifier.init))
                }
            }
            #expect(try await ask(500).count == 1)
            #expect(store.counts == CountingStore.Counts(reads: 2, writes: 1))
            #expect(try await ask(500).count == 1)
            #expect(store.counts == CountingStore.Counts(reads: 2, writes: 1))
        }
    }

    @Test("that is longer than a page names every certificate once")
    func pages() async throws {
        try await ServiceFixture.run { fixture in
            try await Self.revoke(5003, in: fixture.store)
            let store = CountingStore(fixture.store)
            let list = try await Self.publisher(fixture, store).document()
            #expect(list.entries == 5003)
            #expect(store.counts == CountingStore.Counts(reads: 3, writes: 1))
        }
    }

    @Test("is waited for by all who ask after a revocation while one is made: the next is made once, nobody is refused")
    func theNext() async throws {
        try await ServiceFixture.run { fixture in
            try await Self.revoke(10, in: fixture.store)
            let store = CountingStore(fixture.store)
            let publish = try Self.publisher(fixture, store)
            store.holdsWrites = true
            let first = Task { try await publish.document() }
            // It is signed, and waits to be put in force: what is revoked from here on is not in it.
            try await Self.until { store.counts.writes == 1 }
            try await Self.revoke(1, in: fixture.store, seed: 5000)
            publish.suspect()
            let asking = Arrivals()
            let others = (0..<200).map { _ in
                Task {
                    asking.add()
                    return try await publish.document()
                }
            }
            try await Self.until { asking.count == 200 }
            store.holdsWrites = false
            let list = try await first.value
            #expect((list.number, list.entries) == (1, 10))
            for other in others {
                let list = try await other.value
                #expect((list.number, list.entries) == (2, 11))
            }
            #expect(store.counts.writes == 2)
        }
    }

    private final class Arrivals: Sendable {
        private let number = Mutex(0)
        var count: Int { number.withLock { $0 } }
        func add() { number.withLock { $0 += 1 } }
    }

    private static func until(_ holds: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while !holds(), ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(5)) }
        try #require(holds())
    }

    @Test("is read and signed before the transaction that puts it in force: a writer's body reads no certificate")
    func outsideTheWriter() async throws {
        try await ServiceFixture.run { fixture in
            try await Self.revoke(50, in: fixture.store)
            let store = CountingStore(fixture.store)
            _ = try await Self.publisher(fixture, store).document()
            #expect(!store.written.isEmpty)
            #expect(store.written.allSatisfy { !$0.contains("certificates") })
        }
    }

    @Test("of more than a thousand entries is handed out as it was while the next one is made, and does follow")
    func longList() async throws {
        try await ServiceFixture.run { fixture in
            try await Self.revoke(1200, in: fixture.store)
            let store = CountingStore(fixture.store)
            let publish = try Self.publisher(fixture, store)
            let first = try await publish.document()
            try await Self.revoke(1, in: fixture.store, seed: 5000)
            publish.suspect()
            store.isHeld = true
            for _ in 0..<100 { #expect(try await publish.document() === first) }
            store.isHeld = false
            var last = first
            let deadline = ContinuousClock.now + .seconds(120)
            while last === first, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(10))
                last = try await publish.document()
            }
            #expect((last.number, last.entries) == (2, 1201))
        }
    }

    @Test("is handed out for an hour where the store is away, and not longer")
    func outage() async throws {
        try await ServiceFixture.run { fixture in
            let store = CountingStore(fixture.store)
            let publish = try Self.publisher(fixture, store)
            let list = try await publish.document()
            store.isAway = true
            publish.suspect()
            #expect(try await publish.document() === list)
            fixture.clock.advance(3599)
            #expect(try await publish.document() === list)
            fixture.clock.advance(1)
            await #expect(throws: Refusal(.unavailable, "")) { try await publish.document() }
            store.isAway = false
            #expect(try await publish.document().number == 2)
        }
    }

    @Test(
        "of another node is taken over where it says everything, and a revocation there is noticed",
        arguments: StoreKind.shared)
    func otherNode(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let other = try await fixture.moved()
            let first = try await fixture.publish()
            #expect(try await other.publish() == first)
            let device = try await fixture.certify(try fixture.request()).certificate
            try await other.revokeCertificate.revoke(serial: device.serial, reason: .keyCompromise)
            let second = try await other.publish()
            #expect(second != first)
            try await fixture.watch.poll()
            #expect(try await fixture.publish() == second)
        }
    }
}

/// A store that counts what is asked of it, and can be held up or away.
final class CountingStore: Database {
    struct Counts: Sendable, Equatable {
        var reads = 0
        var writes = 0
    }

    private struct State {
        var counts = Counts()
        var written: [String] = []
        var isHeld = false
        var holdsWrites = false
        var isAway = false
    }

    private let store: any Database
    private let state = Mutex(State())

    init(_ store: any Database) { self.store = store }

    var counts: Counts { state.withLock { $0.counts } }
    /// The statements of the bodies that write.
    var written: [String] { state.withLock { $0.written } }
    var isHeld: Bool {
        get { state.withLock { $0.isHeld } }
        set { state.withLock { $0.isHeld = newValue } }
    }
    var holdsWrites: Bool {
        get { state.withLock { $0.holdsWrites } }
        set { state.withLock { $0.holdsWrites = newValue } }
    }
    var isAway: Bool {
        get { state.withLock { $0.isAway } }
        set { state.withLock { $0.isAway = newValue } }
    }

    func read<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        let deadline = ContinuousClock.now + .seconds(120)
        while isHeld, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(5)) }
        state.withLock { $0.counts.reads += 1 }
        if isAway { throw StoreError.unavailable(reason: "away") }
        return try await store.read(body)
    }

    func write<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        state.withLock { $0.counts.writes += 1 }
        let deadline = ContinuousClock.now + .seconds(120)
        while holdsWrites, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(5)) }
        if isAway { throw StoreError.unavailable(reason: "away") }
        return try await store.write { [self] transaction in
            try body(Recording(transaction: transaction) { sql in self.state.withLock { $0.written.append(sql) } })
        }
    }

    func tables() async throws -> [TableShape] { try await store.tables() }
    func changeStamp() throws -> Int64 { try store.changeStamp() }
    func check() async throws { try await store.check() }
    func close() async throws {}

    private struct Recording: Transaction {
        let transaction: any Transaction
        let record: (String) -> Void
        var now: Date { transaction.now }

        func query(_ sql: String, _ arguments: [Value]) throws -> [Row] {
            record(sql)
            return try transaction.query(sql, arguments)
        }

        func first(_ sql: String, _ arguments: [Value]) throws -> Row? {
            record(sql)
            return try transaction.first(sql, arguments)
        }

        func execute(_ sql: String, _ arguments: [Value]) throws -> Int {
            record(sql)
            return try transaction.execute(sql, arguments)
        }

        func appendChange(kind: Int, key: [UInt8]) throws {
            try transaction.appendChange(kind: kind, key: key)
        }
    }
}
