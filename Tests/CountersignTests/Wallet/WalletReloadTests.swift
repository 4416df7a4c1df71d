import Fixtures
import Foundation
import Testing

@Suite("The files for wallets")
struct WalletReloadTests {
    private static func write(_ text: String, _ name: String, of service: RunningService) throws {
        try text.write(to: service.path(name), atomically: true, encoding: .utf8)
    }

    /// Sends SIGHUP, and waits for the next line of the log with these words.
    private static func reload(_ service: RunningService, until words: String) async throws -> String? {
        let before = try service.logLines(words).count
        kill(service.processIdentifier, SIGHUP)
        for _ in 0..<600 {
            let lines = try service.logLines(words)
            if lines.count > before { return lines.last }
            try await Task.sleep(for: .milliseconds(50))
        }
        return nil
    }

    @Test("are read again by SIGHUP, and those in use stay if one is not valid")
    func reload() async throws {
        let service = try await RunningService()
        let made = try await service.countersign(["sample", "wallet", "issuer"])
        #expect(made.status == 0, "\(made.errors)")
        try Self.write("enabled: true\n", "Policies/wallet.yaml", of: service)
        _ = service.stop()
        try service.start()
        let ended = "the reload has ended"
        let good = try await Self.reload(service, until: ended)
        #expect(
            good?.contains("wallet.pem") == true && good?.contains("\"failed\":\"nothing\"") == true, "\(good ?? "")"
        )
        let issuer = try String(contentsOf: service.path("Keys/issuers/sample.pem"), encoding: .utf8)
        try Self.write("not a certificate", "Keys/issuers/sample.pem", of: service)
        let bad = try await Self.reload(service, until: "the files for wallets were not reloaded")
        #expect(bad?.contains("sample.pem") == true, "\(bad ?? "")")
        try Self.write(issuer, "Keys/issuers/sample.pem", of: service)
        #expect(try await Self.reload(service, until: "the files for wallets were reloaded") != nil)
    }
}
