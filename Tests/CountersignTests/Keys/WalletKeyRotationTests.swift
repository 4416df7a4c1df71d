import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import countersign

@Suite("Rotating the key of requests to wallets")
struct WalletKeyRotationTests {
    /// Keys with a pair for wallets.
    private static func bench() throws -> RotationBench {
        let bench = try RotationBench()
        _ = try SampleIssuer.create(in: bench.directory, now: bench.now)
        return bench
    }

    /// Stores a certificate for the next key, as a scheme of wallets would. The next key is replaced by that of the sample.
    private static func certify(_ bench: RotationBench) throws {
        let other = try TemporaryDirectory()
        _ = try SampleIssuer.create(in: other.path, now: bench.now)
        for (from, to) in [
            (KeyFiles.Name.walletKey, KeyFiles.Name.nextWalletKey), (.walletCertificate, .nextWalletCertificate),
        ] {
            try KeyFiles.file(to, in: bench.directory).replace(try KeyFiles.file(from, in: other.path).read())
        }
    }

    private static func certificate(_ bench: RotationBench) throws -> [[UInt8]] {
        try WalletFiles.reader(in: bench.directory).reader.certificates
    }

    @Test("The next key is used when a scheme of wallets has certified it, and no node is stopped")
    func twoSteps() throws {
        let bench = try Self.bench()
        let before = try Self.certificate(bench)
        bench.expectRefused(.use, of: .wallet, "--stage")
        bench.expectRefused(.prune, of: .wallet, "leave out --prune")
        #expect(try bench.run(.stage, of: .wallet).changed.count == 1)
        let staged = try KeyFiles.file(.nextWalletKey, in: bench.directory).read()
        #expect(try bench.run(.stage, of: .wallet).changed.isEmpty)
        #expect(try KeyFiles.file(.nextWalletKey, in: bench.directory).read() == staged)
        bench.expectRefused(.use, of: .wallet, "wallet-next.pem is missing")
        // A certificate of another key.
        try KeyFiles.file(.nextWalletCertificate, in: bench.directory).create(
            try KeyFiles.file(.walletCertificate, in: bench.directory).read())
        for step in [RotationStep.stage, .use] { bench.expectRefused(step, of: .wallet, "does not begin with") }
        #expect(try Self.certificate(bench) == before)
        try Self.certify(bench)
        let used = try bench.run(.use, of: .wallet)
        #expect(try Self.certificate(bench) != before)
        #expect(used.next.contains { $0.contains("SIGHUP") } && !used.next.contains { $0.contains("estart") })
        for name in [KeyFiles.Name.nextWalletKey, .nextWalletCertificate] { #expect(!bench.has(name), "\(name)") }
        bench.expectRefused(.use, of: .wallet, "--stage")
    }

    @Test("A certificate that expired while it waited is not used")
    func expired() throws {
        let bench = try Self.bench()
        try Self.certify(bench)
        bench.now += 100 * 366 * 86_400
        bench.expectRefused(.use, of: .wallet, "has expired")
    }

    @Test("A rotation that was stopped after any file is finished by the same command")
    func stopped() throws {
        let names = [
            KeyFiles.Name.walletKey, .walletCertificate, .nextWalletCertificate, .nextWalletKey,
        ]
        for written in 1..<names.count {
            let bench = try Self.bench()
            let files = names.map { KeyFiles.file($0, in: bench.directory) }
            try Self.certify(bench)
            let before = try files.map { try $0.exists ? $0.read() : nil }
            try bench.run(.use, of: .wallet)
            let after = try files.map { try $0.exists ? $0.read() : nil }
            for (file, text) in zip(files, before).dropFirst(written) { try file.replace(try #require(text)) }
            try bench.run(.use, of: .wallet)
            #expect(try files.map { try $0.exists ? $0.read() : nil } == after, "\(written)")
            _ = try Self.certificate(bench)
        }
    }
}
