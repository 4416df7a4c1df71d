import Crypto
import CryptoExtras
import Database
import Domain
import Fixtures
import Foundation
import Repositories
import Tokens

/// A session JWT for the app's own backend: what it costs to make one, and what it saves the backend.
struct Exchanges {
    /// The address of the service's store.
    let store: String
    let provider: ProviderID
    let limits: Limits
    let report: Report

    /// Exchanges sessions over connections that have some.
    ///
    /// - Parameters:
    ///   - tokens: sessions of each connection.
    ///   - check: microseconds of a session check on the same connections.
    func run(_ fleet: Fleet, _ process: MeasuredProcess, tokens: [[String]], check: Double, quick: Bool) async throws {
        let signature = try Self.signature()
        let other = try Self.signatureOfSwiftCrypto()
        let requests = tokens.map { list in
            (0..<(quick ? 100 : 500)).map { index in
                RequestBytes.make(
                    "POST", "/token",
                    body: "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange"
                        + "&subject_token=\(list[index % list.count])"
                        + "&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token"
                        + "&audience=\(provider)",
                    type: "application/x-www-form-urlencoded")
            }
        }
        let load = try await Load.run(fleet, processes: [process], requests: requests, expecting: 200)
        let crowded = try await Self.amongOthers { try Self.signature() }
        let limit = 2 * check + crowded
        try await setAlgorithm(.es256)
        let curve = try await Load.run(fleet, processes: [process], requests: requests, expecting: 200)
        try await setAlgorithm(.rs256)
        let curveSignature = try await Self.amongOthers { try Self.signatureOfCurve() }
        let curveLimit = 2 * check + curveSignature
        report.section(
            "A session JWT beside a call to the service",
            ["what", "CPU µs", "per second", "p50 ms", "p99 ms", "limit µs", "CPU ÷ limit", "aim"])
        report.row(
            "one RS256 signature (OpenSSL, 2048 bits)", signature.places(1), (1e6 / signature).places(0), "", "", "",
            "", "")
        report.row("the same by swift-crypto", other.places(1), (1e6 / other).places(0), "", "", "", "", "")
        report.row(
            "the same while each processor signs, as in this run", crowded.places(1), (1e6 / crowded).places(0), "", "",
            "", "", "")
        report.row(
            "POST /token, exchange for a session JWT with RS256", load.microseconds.places(1), load.perSecond.places(0),
            load.p50.places(2), load.p99.places(2), limit.places(1), (load.microseconds / limit).places(2), "≤ 1")
        report.row(
            "one ES256 signature (swift-crypto), while each processor signs", curveSignature.places(1),
            (1e6 / curveSignature).places(0), "", "", "", "", "")
        report.row(
            "POST /token, exchange for a session JWT with ES256", curve.microseconds.places(1),
            curve.perSecond.places(0), curve.p50.places(2), curve.p99.places(2), curveLimit.places(1),
            (curve.microseconds / curveLimit).places(2), "≤ 1")
        report.row(
            "what a backend's own check of it takes: one verification", limits.rs256.places(1),
            (1e6 / limits.rs256).places(0), "", "", "", "", "")
    }

    /// By what algorithm the provider's tokens are signed from now on. The service reads its change log within a second.
    private func setAlgorithm(_ algorithm: AccessTokenAlgorithm) async throws {
        let store = try StoreURL.parse(store).open(clock: { Date() })
        _ = try await store.write { [provider] transaction in
            try transaction.execute(
                "UPDATE providers SET token_algorithm = $1 WHERE id = $2",
                [.text(algorithm.rawValue), .text(provider.description)])
            try ChangeLog(transaction).append(.providerKeys(provider))
        }
        try await store.close()
        try await Task.sleep(for: .seconds(2))
    }

    /// Processors of a virtual machine may share a core: then each is slower while the other works.
    private static func amongOthers(_ signature: @escaping @Sendable () throws -> Double) async throws -> Double {
        let count = ProcessInfo.processInfo.activeProcessorCount
        return try await withThrowingTaskGroup(of: Double.self) { group in
            for _ in 0..<count { group.addTask { try signature() } }
            return try await group.reduce(0, +) / Double(count)
        }
    }

    private static let message = [UInt8](repeating: 7, count: 400)

    private static func signature() throws -> Double {
        guard let key = RSASigner(try _RSA.Signing.PrivateKey(keySize: .bits2048)) else { throw RSASigner.Failure() }
        return Limits.time(2_000) { (try? key.signature(over: message)) != nil }
    }

    private static func signatureOfCurve() throws -> Double {
        let key = P256.Signing.PrivateKey()
        return Limits.time(5_000) { (try? key.signature(for: message)) != nil }
    }

    private static func signatureOfSwiftCrypto() throws -> Double {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        return Limits.time(1_000) {
            (try? key.signature(for: SHA256.hash(data: message), padding: .insecurePKCS1v1_5)) != nil
        }
    }
}
