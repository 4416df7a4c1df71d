import Database
import Domain
import Encoding
import Fixtures
import Foundation
import NIOCore
import NIOPosix
import Repositories

/// A long revocation list that many fetch at once, and what becomes of a client beside them.
struct Revocations {
    let service: RunningService
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private var count: Int { quick ? 10_000 : 200_000 }
    private var each: Int { quick ? 20 : 30 }
    private static let readers = 20

    func run() async throws {
        report.section(
            "\(count.formatted()) revoked certificates and many who fetch the list",
            ["what", "CPU µs", "per second", "p50 ms", "p99 ms"])
        let process = MeasuredProcess(id: service.processIdentifier)
        try process.forgetPeak()
        let before = process.residentMiB
        try await revoke()
        let open = try Fleet.context(authority: service.path("Keys/ca.pem").path)
        let fetch = RequestBytes.make("GET", "/certificates/revocations")
        var connections: [LoadConnection] = []
        for _ in 0..<Self.readers {
            connections.append(
                try await LoadConnection.open(port: Fleet.port(service.publicURL), tls: open, on: group.next()))
        }
        let readers = Fleet(devices: [], connections: connections)
        let start = ContinuousClock.now
        let length = try await waitForList(connections[0], fetch)
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        report.row(
            "from the revocations to a list of \(length / 1024) KiB, ms", "", "", "",
            ((Double(seconds) + Double(attoseconds) / 1e18) * 1000).places(0))

        let size = Double(length) / 1_048_576
        func reportPeak(_ what: String) {
            report.row(
                "memory at most \(what), MiB; \(before.places(0)) before, the list has \(size.places(1))", "", "", "",
                process.peakMiB.places(0))
        }
        reportPeak("while the list was made and fetched once")

        let devices = try await Fleet.certify(1, on: service, group: group)
        let others = try await Fleet.connect(devices, count: 4, port: Fleet.port(service.clientURL), group: group)
        let nonce = RequestBytes.make("POST", "/nonces", body: "")
        let asked = [[ByteBuffer]](repeating: .init(repeating: nonce, count: each * 5), count: 4)
        let alone = try await Load.run(others, processes: [process], requests: asked, expecting: 201)
        report.row(
            "nonces, nobody fetches the list", alone.microseconds.places(0), alone.perSecond.places(0),
            alone.p50.places(1), alone.p99.places(1))
        // Whoever is refused ends the run: `Load` takes one status only.
        try process.forgetPeak()
        async let beside = Load.run(others, processes: [process], requests: asked, expecting: 201)
        let lists = try await Load.run(
            readers, processes: [process],
            requests: .init(repeating: .init(repeating: fetch, count: each), count: Self.readers), expecting: 200)
        let nonces = try await beside
        report.row(
            "the list, \(Self.readers) connections, both together", lists.microseconds.places(0),
            lists.perSecond.places(0), lists.p50.places(1), lists.p99.places(1))
        reportPeak("while they fetched it")
        report.row("nonces beside them", "", nonces.perSecond.places(0), nonces.p50.places(1), nonces.p99.places(1))
        // Half a thousand a second of so long a list are more bytes than this machine moves: readers keep what they have.
        let tag = try await connections[0].run([fetch]).first?.entityTag
        let again = RequestBytes.make(
            "GET", "/certificates/revocations", headers: ["If-None-Match: \(tag ?? "")"])
        async let besideThem = Load.run(others, processes: [process], requests: asked, expecting: 201)
        let kept = try await Load.run(
            readers, processes: [process],
            requests: .init(repeating: .init(repeating: again, count: each * 10), count: Self.readers), expecting: 304)
        let calm = try await besideThem
        report.row(
            "the list by its entity tag, \(Self.readers) connections, both together", kept.microseconds.places(0),
            kept.perSecond.places(0), kept.p50.places(1), kept.p99.places(1))
        report.row("nonces beside them", "", calm.perSecond.places(0), calm.p50.places(1), calm.p99.places(1))
        await readers.close()
        await others.close()
    }

    /// Writes revoked certificates, ten of a device, as the service would have, and appends a change.
    private func revoke() async throws {
        let store = try StoreURL.parse(service.store).open(clock: { Date() })
        var device = DeviceID(UUID())
        for first in stride(from: 0, to: count, by: 1000) {
            let last = min(count, first + 1000)
            device = try await store.write { transaction in
                let now = transaction.now
                var device = DeviceID(UUID())
                for number in first..<last {
                    if number % 10 == 0 {
                        device = DeviceID(UUID())
                        _ = try DeviceRepository(transaction).insert(device, userAgent: nil, presenceKey: nil, at: now)
                    }
                    try CertificateRepository(transaction).insert(
                        DeviceCertificate(
                            serial: String(repeating: "7", count: 24) + String(0x1000_0000 + number, radix: 16),
                            thumbprint: Digest256.of("certificate \(number)"), deviceID: device,
                            keyHash: Digest256.of("key \(number)"), notBefore: now, notAfter: now + 86_400,
                            issuedAt: now, replaces: nil, firstSeenAt: nil,
                            revoked: .init(at: now, reason: "keyCompromise")),
                        subjectPublicKeyInfo: [], authority: .of("authority"))
                }
                return device
            }
        }
        let last = device
        try await store.write { try ChangeLog($0).append(.device(last)) }
        try await store.close()
    }

    /// Fetches until the list has grown by the entries; its length.
    private func waitForList(_ connection: LoadConnection, _ fetch: ByteBuffer) async throws -> Int {
        let deadline = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < deadline {
            let answers = try await connection.run([fetch])
            if let answer = answers.first, answer.status == 200, answer.body.readableBytes > count * 30 {
                return answer.body.readableBytes
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw BenchmarkError("the list does not name what was revoked")
    }
}
