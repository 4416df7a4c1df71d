import Authority
import Fixtures
import Foundation

/// What a look-up takes in the lists that every wallet's answer and every attestation is compared with.
struct WalletLists {
    let quick: Bool
    let report: Report

    private static let serials = 50_000

    func run() throws {
        report.section(
            "A look-up in a list of issuers or of revoked certificates", ["what", "entries", "CPU ns", "aim"])
        let issuers = quick ? 100 : 1000
        let issuer = try WalletIssuer()
        let anchors = try (0..<issuers).map { number in
            let name = WalletIssuer.name("IACA \(number)")
            return try IssuerTrust.Anchor(
                issuer.certified(subject: name, issuer: name, WalletIssuer.authority()), types: nil)
        }
        let trust = IssuerTrust(anchors)
        let (known, unknown) = (WalletIssuer.name("IACA \(issuers / 2)"), WalletIssuer.name("IACA \(issuers)"))
        try row("an issuer that is trusted", issuers) { trust.anchors(named: known).count == 1 }
        try row("an issuer that is not", issuers) { trust.anchors(named: unknown).isEmpty }

        let entries = (0..<Self.serials).map { "\"\(Self.serial($0))\":{\"status\":\"REVOKED\"}" }
        guard let list = AttestationStatusList(Array("{\"entries\":{\(entries.joined(separator: ","))}}".utf8)) else {
            throw BenchmarkError("the list of revoked certificates cannot be read")
        }
        let chain = (0..<4).map { Self.serial(Self.serials + $0) }
        let listed = Array(chain.dropLast()) + [Self.serial(7)]
        try row("a chain of four certificates that are not revoked", Self.serials) { !list.contains(chain) }
        try row("a chain of four of which the last is", Self.serials) { list.contains(listed) }
    }

    /// The serial number of an entry in hexadecimal digits, about 16 bytes.
    private static func serial(_ number: Int) -> String {
        let mixed = UInt64(number + 1) &* 0x9E37_79B9_7F4A_7C15
        return "1" + String(mixed, radix: 16) + String(mixed ^ 0x5555_5555_5555_5555, radix: 16)
    }

    /// Reports the median of nine rounds of a look-up.
    ///
    /// - Parameter isRight: looks up; `false` is a wrong answer.
    private func row(_ name: String, _ entries: Int, _ isRight: () -> Bool) throws {
        let rounds = quick ? 10_000 : 100_000
        let process = MeasuredProcess(id: getpid())
        var times: [Double] = []
        for _ in 0..<9 {
            var right = 0
            let start = process.processorSeconds
            for _ in 0..<rounds where isRight() { right += 1 }
            times.append((process.processorSeconds - start) * 1e9 / Double(rounds))
            guard right == rounds else { throw BenchmarkError("\(name): a look-up has a wrong answer") }
        }
        report.row(name, String(entries), times.sorted()[4].places(0), "< 1,000 ns")
    }
}
