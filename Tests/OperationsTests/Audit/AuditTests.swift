import Crypto
import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Synchronization
import Testing

/// The sealer and the verifier over a real store.
@Suite("The audit log")
struct AuditTests {
    static let key = P256.Signing.PrivateKey()
    static let keys = ["k1": key.publicKey]

    /// A clock that stands still until it is moved.
    final class Clock: Sendable {
        private let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
        var now: Date { time.withLock { $0 } }
        func advance(_ seconds: TimeInterval) { time.withLock { $0 += seconds } }
    }

    static func sealer(_ store: any Database, _ clock: Clock) -> SealAudit {
        SealAudit(store: store, key: key, keyID: "k1", environment: Environment(now: { clock.now }))
    }

    static func run(
        on kind: StoreKind = .usual, _ body: (any Database, Clock, SealAudit) async throws -> Void
    ) async throws {
        let clock = Clock()
        let now: @Sendable () -> Date = { clock.now }
        try await withStore(kind, migrations: Schema.migrations, clock: now) { store in
            try await body(store, clock, sealer(store, clock))
        }
    }

    static func append(_ store: any Database, _ count: Int) async throws {
        try await store.write { transaction in
            for number in 0..<count {
                try AuditRepository(transaction).append(
                    .sessionEnded, subject: AuditSubject(.session, number), actor: "service", detail: "x",
                    reason: "test",
                    id: UUID())
            }
        }
    }

    static func head(_ store: any Database) async throws -> AuditChain {
        try await store.read { try AuditChainRepository($0).head().chain }
    }

    static func verify(_ store: any Database, witness: AuditCheckpoint? = nil) async throws -> VerifyAudit.Report {
        try await VerifyAudit(store: store, keys: keys)(witness: witness)
    }

    @Test("is chained once, in the order of the commits, and an entry that is committed late comes later")
    func order() async throws {
        try await Self.run { store, clock, seal in
            try await Self.append(store, 3)
            #expect(try await seal() == 3)
            #expect(try await seal() == 0)
            // Its time is before that of the chained ones, as of a transaction that took long.
            try await store.write { transaction in
                try transaction.execute(
                    "INSERT INTO audit_entries (id, at, event, subject, actor) VALUES ('late', 5, 'e', 's', 'a')", [])
            }
            #expect(try await seal() == 1)
            let links = try await store.read { try AuditChainRepository($0).links(after: 0, through: .max, limit: 10) }
            #expect(links.map(\.sequence) == [1, 2, 3, 4])
            #expect(links.last?.link?.entry.id == "late")
            #expect(try await Self.verify(store).defect == nil)
        }
    }

    @Test("is signed when it was not for a minute, at 1,000 entries at the latest, and at the end")
    func checkpoints() async throws {
        try await Self.run { store, clock, seal in
            try await Self.append(store, 1)
            try await seal()
            #expect(try await Self.head(store).signed == 1)
            clock.advance(30)
            try await Self.append(store, 1)
            try await seal()
            #expect(try await Self.head(store).signed == 1)
            clock.advance(30)
            try await seal()
            #expect(try await Self.head(store).signed == 2)
            try await Self.append(store, 2600)
            #expect(try await seal() == 2600)
            let filed = try await store.read { try AuditChainRepository($0).checkpoints(after: 0, through: .max) }
            #expect(filed.map(\.sequence) == [1, 2, 1002, 2002])
            try await seal(signingAll: true)
            #expect(try await Self.head(store).signed == 2602)
            let report = try await Self.verify(store)
            #expect(report.defect == nil)
            #expect((report.entries, report.checkpoints, report.signed) == (2602, 5, 2602))
        }
    }

    @Test("keeps its lease with one sealer; another takes over when that one is silent")
    func lease() async throws {
        try await Self.run { store, clock, first in
            let second = Self.sealer(store, clock)
            try await Self.append(store, 1)
            #expect(try await first() == 1)
            try await Self.append(store, 1)
            #expect(try await second() == 0)
            clock.advance(6)
            #expect(try await second() == 1)
            try await Self.append(store, 1)
            #expect(try await first() == 0)
            #expect(try await second() == 1)
        }
    }

    @Test("is chained once by two sealers at once with writers beside them")
    func race() async throws {
        try await Self.run { store, clock, first in
            let second = Self.sealer(store, clock)
            try await withThrowingTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask { for _ in 0..<50 { try await Self.append(store, 1) } }
                }
                for seal in [first, second] {
                    group.addTask {
                        for _ in 0..<60 {
                            try await seal()
                            clock.advance(4)
                        }
                    }
                }
                try await group.waitForAll()
            }
            clock.advance(10)
            try await first(signingAll: true)
            let report = try await Self.verify(store)
            #expect(report.defect == nil)
            #expect((report.entries, report.signed, report.unchained) == (200, 200, 0))
        }
    }

    @Test("loses and doubles nothing where a sealer dies at any statement")
    func crashes() async throws {
        try await Self.run { store, clock, seal in
            var died = 0
            for point in 0..<60 {
                try await Self.append(store, 2)
                let failing = FailingStore(store: store, statements: point)
                let dying = Self.sealer(failing, clock)
                do {
                    try await dying(signingAll: true)
                } catch is FailingStore.Crash {
                    died += 1
                }
                clock.advance(6)
                try await seal()
                #expect(try await Self.verify(store).defect == nil, "after \(point) statements")
            }
            #expect(died > 10)
            try await seal(signingAll: true)
            let report = try await Self.verify(store)
            #expect((report.entries, report.signed, report.unchained) == (120, 120, 0))
        }
    }
}

/// A store whose process dies after a number of statements: what was not committed is gone.
struct FailingStore: Database {
    struct Crash: Error {}

    let store: any Database
    private let left: Left

    private final class Left: Sendable {
        let count: Mutex<Int>
        init(_ count: Int) { self.count = Mutex(count) }

        func spend() throws {
            try count.withLock { count in
                guard count > 0 else { throw Crash() }
                count -= 1
            }
        }
    }

    private struct FailingTransaction: Transaction {
        let transaction: any Transaction
        let left: Left
        var now: Date { transaction.now }

        func query(_ sql: String, _ arguments: [Value]) throws -> [Row] {
            try left.spend()
            return try transaction.query(sql, arguments)
        }

        func first(_ sql: String, _ arguments: [Value]) throws -> Row? {
            try left.spend()
            return try transaction.first(sql, arguments)
        }

        func execute(_ sql: String, _ arguments: [Value]) throws -> Int {
            try left.spend()
            return try transaction.execute(sql, arguments)
        }
    }

    init(store: any Database, statements: Int) {
        self.store = store
        left = Left(statements)
    }

    func read<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await store.read { [left] in try body(FailingTransaction(transaction: $0, left: left)) }
    }

    func write<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await store.write { [left] transaction in
            let value = try body(FailingTransaction(transaction: transaction, left: left))
            // The last point of all: everything is written, and the commit does not come.
            try left.spend()
            return value
        }
    }

    func tables() async throws -> [TableShape] { try await store.tables() }
    func changeStamp() throws -> Int64 { try store.changeStamp() }
    func check() async throws { try await store.check() }
    func close() async throws {}
}
