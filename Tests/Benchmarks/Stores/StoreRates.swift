import Database
import Domain
import Encoding
import Fixtures
import Foundation
import NIOCore
import NIOPosix
import Repositories

/// What a store carries beside one process that asks it, without HTTP: sign-ins of known users and ends of sessions.
struct StoreRates {
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private var stored: Int { quick ? 20_000 : 200_000 }
    private var signIns: Int { quick ? 4_000 : 40_000 }
    private let atOnce = 256
    private static let perUser = 8

    func run() async throws {
        let cluster = try PostgreSQLCluster(settings: [])
        let service = try await RunningService(store: try cluster.address(of: "rates"))
        let provider = try await BenchmarkProvider(service)
        guard let device = try await Fleet.certify(1, on: service, group: group).first else {
            throw BenchmarkError("no device")
        }
        _ = service.stop()
        try await SeededSessions(store: service.store, isPostgreSQL: true, device: device, provider: provider)
            .add(stored, from: 0)
        let store = try StoreURL.parse(service.store).open(clock: { Date() })
        // As after a first sign-in: nobody is held.
        try await store.write { transaction in
            for table in ["users", "devices"] { try transaction.execute("UPDATE \(table) SET held = 0", []) }
        }
        report.section(
            "PostgreSQL (fsync on) with \(stored.formatted()) sessions, \(atOnce) callers in one process beside it",
            ["what", "per second", "aim"])
        let before = try await rate(try await openings(store, from: 0, of: provider, on: device)) { opening in
            let draft = opening.0
            try await store.write { transaction in
                let subject = SignInRepository.Subject(
                    keyID: draft.providerKeyID, thumbprint: draft.thumbprint, deviceID: draft.deviceID,
                    providerID: draft.providerID, externalID: draft.externalID)
                let context = try SignInRepository(transaction).context(of: subject, mostSessions: 1000)
                guard let user = context.user else { throw BenchmarkError("no user") }
                try SessionRepository(transaction).insert(
                    Session(draft, of: user, at: transaction.now), at: context.generations)
            }
        }
        report.row("sign-ins, each a serializable transaction of its own", before.places(0), "")
        let shared = try await rate(try await openings(store, from: signIns, of: provider, on: device)) { opening in
            let (draft, nonce) = opening
            guard try await SessionOpening(draft, spending: nonce, mostSessions: 1000)(in: store) != nil else {
                throw BenchmarkError("a session was not opened")
            }
        }
        report.row(
            "sign-ins, each a statement that others share a transaction with (\((shared / before).places(2)) times)",
            shared.places(0), "≥ 2 times")
        let ends = try await rate(try await sessions(store)) { session in
            guard try await SharedSessionEnd(session, .byUser)(in: store) != nil else {
                throw BenchmarkError("a session was not ended")
            }
        }
        let plain = try await PlainEnds(cluster: cluster, stored: stored, count: quick ? 300 : 3_000).run()
        report.row(
            "ends, 32 in a statement (\((ends / plain).places(2)) times the next row)", ends.places(0),
            "≥ 20,000, or 0.79 times")
        report.row(
            "ends of a bare table by pgbench, each a statement and a transaction, \(PlainEnds.clients) connections",
            plain.places(0), "25,308 where the aim was set")
        try await store.close()
    }

    /// How many a second.
    private func rate<Item: Sendable>(
        _ all: [Item], _ body: @escaping @Sendable (Item) async throws -> Void
    ) async throws -> Double {
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<atOnce {
                group.addTask { [atOnce] in
                    for index in stride(from: lane, to: all.count, by: atOnce) {
                        try await body(all[index])
                    }
                }
            }
            try await group.waitForAll()
        }
        return Double(all.count) / ((ContinuousClock.now - start) / .seconds(1))
    }

    /// Sessions that may be opened, of users one after the other.
    private func openings(_ store: any Database, from first: Int, of provider: BenchmarkProvider, on device: LoadDevice)
        async throws -> [(Session, Nonce)]
    {
        let generation = try await store.read { transaction in
            try transaction.first("SELECT value FROM generations WHERE name = 'nonces'", [])?.text(0) ?? ""
        }
        let key = NonceKey(Secret([UInt8](repeating: 1, count: 32)), generation: generation)
        let thumbprint = try Memory.thumbprint(device.certificatePEM)
        guard let device = DeviceID(device.id[...]) else { throw BenchmarkError("no device") }
        let now = Date()
        return try (first..<(first + signIns)).map { index in
            let digest = Digest256.of("store rate \(index)")
            let text = Nonce.issue(
                randomBytes: Array(digest.bytes.prefix(16)), expiresAt: now.addingTimeInterval(600),
                thumbprint: thumbprint, key: key)
            guard let nonce = Nonce(issuedHere: text, key: key) else { throw BenchmarkError("no nonce") }
            let draft = Session(
                id: nonce.sessionID, tokenHash: digest, userID: UserID(UUID()), providerID: provider.id,
                externalID: "stored-\(index % (stored / Self.perUser))", applicationID: provider.application,
                deviceID: device, thumbprint: thumbprint, providerKeyID: provider.rs256.id, state: .authenticated,
                createdAt: now, renewedAt: now, lastUsedAt: now, challengedAt: nil)
            return (draft, nonce)
        }
    }

    private func sessions(_ store: any Database) async throws -> [Session] {
        var (sessions, last): ([Session], String) = ([], "")
        while true {
            let page = try await store.read { [last] transaction in
                try transaction.query(
                    "SELECT id FROM sessions WHERE state <> 'unauthenticated' AND id > $1 ORDER BY id LIMIT 1000",
                    [.text(last)]
                ).compactMap { row in
                    try SessionID(row.text(0)[...]).flatMap { try SessionRepository(transaction).find($0) }
                }
            }
            guard let end = page.last else { return sessions }
            (sessions, last) = (sessions + page, end.id.description)
        }
    }
}
