import Crypto
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import NIOCore
import NIOPosix
import Repositories

/// What the service holds in memory, and how long it takes to its first answer with many sessions stored.
struct Memory {
    let service: RunningService
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private var some: Int { quick ? 10_000 : 100_000 }
    private var many: Int { quick ? 20_000 : 1_000_000 }

    func run() async throws {
        report.section("Memory and start", ["what", "measured", "aim"])
        let devices = try await Fleet.certify(8, on: service, group: group)
        let provider = try await BenchmarkProvider(service)
        try restart()
        // The first requests of a process grow its buffers: they are not what a connection costs.
        let fleet = try await Fleet.connect(devices, count: 64, port: Fleet.port(service.clientURL), group: group)
        let nonce = RequestBytes.make("POST", "/nonces", body: "")
        _ = try await fleet.run([[ByteBuffer]](repeating: [nonce], count: 64))
        let idle = resident
        report.row("idle, after 64 connections' first requests", "\(idle.places(0)) MiB", "")
        let crowd = try await Fleet.connect(devices, count: 1000, port: Fleet.port(service.clientURL), group: group)
        _ = try await crowd.run([[ByteBuffer]](repeating: [nonce], count: 1000))
        report.row(
            "1,000 idle mutual-TLS connections more",
            "\((resident - idle).places(0)) MiB, \(((resident - idle) * 1024 / 1000).places(0)) KiB each", "")
        await crowd.close()
        await fleet.close()

        _ = service.stop()
        try await seed(0..<some, devices, provider)
        let start = ContinuousClock.now
        try service.start()
        let first = try await Fleet.connect(devices, count: 1, port: Fleet.port(service.clientURL), group: group)
        try await check(first, 0..<1)
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        report.row(
            "start to the first checked session, \(some.formatted()) stored",
            "\((Double(seconds) + Double(attoseconds) / 1e18).places(2)) s", "< 2 s")
        await first.close()

        _ = service.stop()
        try await seed(some..<many, devices, provider)
        try service.start()
        let all = try await Fleet.connect(devices, count: 64, port: Fleet.port(service.clientURL), group: group)
        try await check(all, 0..<64)
        let before = resident
        let began = ContinuousClock.now
        for chunk in stride(from: 0, to: many, by: 64_000) {
            try await check(all, chunk..<min(many, chunk + 64_000))
            FileHandle.standardError.write(Data("  … \(min(many, chunk + 64_000)) shown\r".utf8))
        }
        let shown = (ContinuousClock.now - began).components.seconds
        report.row(
            "\(many.formatted()) live sessions shown to one node (first sight in \(shown) s)",
            "\(resident.places(0)) MiB in all, \(((resident - before) * 1_048_576 / Double(many)).places(0)) bytes each",
            "≤ 1,024 MiB")
        await all.close()
        let two = try await Fleet.connect(devices, count: 2, port: Fleet.port(service.clientURL), group: group)
        try await ChangesBesideChecks(service: service, group: group, report: report).run(
            two, (0..<2).map(Self.check), provider, users: (1...200).map { "stored-\($0)" },
            "\(many.formatted()) sessions in memory")
        await two.close()
    }

    private var resident: Double { MeasuredProcess(id: service.processIdentifier).residentMiB }

    private func restart() throws {
        _ = service.stop()
        try service.start()
    }

    private static func token(_ index: Int) -> SessionToken {
        let digest = Array(SHA256.hash(data: Data("benchmark session \(index)".utf8)))
        let id = digest.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        return SessionToken(of: SessionID(id), randomBytes: digest)
    }

    private static func check(_ index: Int) -> ByteBuffer {
        RequestBytes.make(
            "GET", "/sessions/current",
            headers: ["Authorization: Layer session-token=\"\(token(index).text.reveal())\""])
    }

    /// Shows each token once, on connections of the device that it is bound to.
    private func check(_ fleet: Fleet, _ range: Range<Int>) async throws {
        let width = fleet.connections.count
        var lists = [[ByteBuffer]](repeating: [], count: width)
        for index in range {
            lists[index % width].append(Self.check(index))
        }
        for list in try await fleet.run(lists) {
            if let wrong = list.first(where: { $0.status != 200 }) {
                throw BenchmarkError("a stored session was refused: \(String(buffer: wrong.body))")
            }
        }
    }

    /// Writes sessions as the service itself would have, while it is stopped.
    private func seed(_ range: Range<Int>, _ devices: [LoadDevice], _ provider: BenchmarkProvider) async throws {
        let store = try SQLiteDatabase(path: service.path("store.db").path, clock: { Date() })
        let bound = try devices.map {
            (DeviceID($0.id[...]), try Self.thumbprint($0.certificatePEM))
        }
        for chunk in stride(from: range.lowerBound, to: range.upperBound, by: 20_000) {
            let end = min(range.upperBound, chunk + 20_000)
            try await store.write { transaction in
                let now = transaction.now
                var user: User?
                for index in chunk..<end {
                    if user == nil || index % 8 == 0 {
                        user = try UserRepository(transaction).findOrCreate(
                            providerID: provider.id, externalID: "stored-\(index / 8)", newID: UserID(UUID()), at: now)
                    }
                    let (device, thumbprint) = bound[index % bound.count]
                    let token = Self.token(index)
                    guard let user, let device else { throw BenchmarkError("no device") }
                    try SessionRepository(transaction).insert(
                        Session(
                            id: token.sessionID, tokenHash: token.hash, userID: user.id,
                            providerID: provider.id, externalID: user.externalID,
                            applicationID: provider.application, deviceID: device, thumbprint: thumbprint,
                            providerKeyID: provider.es256.id, state: .authenticated, createdAt: now, renewedAt: now,
                            lastUsedAt: now, challengedAt: nil),
                        at: .first)
                }
            }
        }
        try await store.close()
    }

    static func thumbprint(_ pem: String) throws -> Digest256 {
        let base64 = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
        guard let der = Data(base64Encoded: base64) else { throw BenchmarkError("no certificate") }
        return Digest256.of(der)
    }
}
