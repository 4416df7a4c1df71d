import CountersignClient
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

/// A wallet of a user of the SDK, whose issuer the service trusts.
@Suite("A wallet in an app of the SDK")
struct WalletAppTests {
    private let issuer: WalletIssuer

    /// What the user does in the wallet.
    private struct Declined: Error {}

    init() throws {
        issuer = try WalletIssuer(now: Date())
    }

    private func service() async throws -> LiveService {
        let service = try await LiveService()
        let running = service.running
        for command in [
            ["sample", "wallet", "issuer"], ["provider", "origin", "add", "devices", StandInWallet.origin],
            ["provider", "origin", "add", "devices", StandInWallet.returnAddress],
        ] {
            let done = try await running.countersign(command)
            #expect(done.status == 0, "\(done)")
        }
        try PEM.encode(issuer.root, label: "CERTIFICATE").write(
            to: running.path("Keys/issuers/test.pem"), atomically: true, encoding: .utf8)
        try "enabled: true\n".write(to: running.path("Policies/wallet.yaml"), atomically: true, encoding: .utf8)
        running.kill()
        try running.start()
        return service
    }

    private func response(to received: ReceivedRequest) throws -> String {
        var mint = DocumentMint(issuer)
        mint.elements = [("age_over_18", .bool(true))]
        return try received.answerText(presenting: try mint.response(to: received.request()))
    }

    @Test("proves an age by the platform's call and by a link, and a declined request is deleted")
    func ages() async throws {
        let service = try await service()
        let app = try App(service.service())
        try await app.client.certify()
        _ = try await app.client.signIn(service.source("alice"))
        let shown = try await app.client.card.present(.over18, origin: StandInWallet.origin) { requests in
            let request = try #require(requests.first { $0.name == "openid4vp-v1-signed" })
            let received = ReceivedRequest(.openID4VP, .object(["request": .string(request.data["request"] ?? "")]))
            return WalletResponse(name: request.name, response: try response(to: received))
        }
        #expect(shown == .age(true))
        let address = try #require(URL(string: StandInWallet.returnAddress))
        let ca = service.running.path("Keys/ca.pem").path
        let linked = try await app.client.card.present(.over18, returningTo: address) { link in
            let items = URLComponents(url: link, resolvingAgainstBaseURL: false)?.queryItems
            let place = try #require(items?.first { $0.name == "request_uri" }?.value)
            let request = try await Command.run("curl", ["-s", "--cacert", ca, "--data", "wallet_nonce=n", place])
            let received = ReceivedRequest(.openID4VP, .object(["request": .string(request.output)]))
            let answer = try response(to: received)
            let target = try #require(try received.payload()["response_uri"]?.text)
            let posted = try await Command.run("curl", ["-s", "--cacert", ca, "--data", "response=\(answer)", target])
            let json = try StrictJSON.parse(Array(posted.output.utf8))
            return try #require(json["redirect_uri"]?.text.flatMap { URL(string: $0) }, "\(posted)")
        }
        #expect(linked == .age(true))
        // Only three may be open.
        for _ in 1...4 {
            await #expect(throws: Declined.self) {
                _ = try await app.client.card.present(.over18, returningTo: address) { _ in throw Declined() }
            }
        }
        await expectRefusal(.notFound) {
            _ = try await app.client.card.present(.over18, returningTo: address) { _ in address }
        }
    }
}
