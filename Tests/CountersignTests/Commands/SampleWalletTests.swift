import Cards
import Crypto
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

@testable import countersign

@Suite("The invented wallet")
struct SampleWalletTests {
    private static func directory() throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    @Test("has an issuer that the service trusts, and answers each request so that it is accepted")
    func accepted() async throws {
        let keys = try Self.directory()
        defer { try? FileManager.default.removeItem(atPath: keys) }
        let files = try SampleIssuer.create(in: keys, now: TestAuthority.referenceTime)
        #expect(files.allSatisfy { FileManager.default.fileExists(atPath: $0) } && files.count == 5)
        #expect(throws: CommandFailure.self) {
            try SampleIssuer.create(in: keys, now: TestAuthority.referenceTime)
        }
        var policy = Policy()
        policy.wallet.enabled = true
        let wallet = try #require(
            try WalletFiles.wallet(
                in: keys, policy: CurrentPolicy(policy), allowsLoopback: false, now: { TestAuthority.referenceTime }))
        try await ServiceFixture.run(policy) { fixture in
            try await fixture.admin.addOrigin(
                try #require(WalletOrigin(StandInWallet.origin)), to: "test", app: nil)
            let service = fixture.context(wallet: wallet)
            let connection = try await fixture.connectNewDevice()
            let session = try await fixture.opened("alice", on: connection).session
            let opened = try await service.openPresentation(
                .over21, origin: StandInWallet.origin, for: session)
            let request = JSONValue.object([
                "requests": .array([
                    .object([
                        "protocol": .string("org-iso-mdoc"),
                        "data": .object([
                            "deviceRequest": .string(opened.isoDocument?.deviceRequest ?? ""),
                            "encryptionInfo": .string(opened.isoDocument?.encryptionInfo ?? ""),
                        ]),
                    ])
                ])
            ])
            let holder = try #require(SpecimenCard.Name("JANE SAMPLE"))
            let virginia = try #require(Jurisdiction.of(code: "VA"))
            let answer = try SampleLicence(
                answering: request, from: StandInWallet.origin, issuer: SampleIssuer(in: keys),
                card: SpecimenCard(of: virginia, holder, now: TestAuthority.referenceTime),
                now: TestAuthority.referenceTime
            ).answer()
            let outcome = try await service.answerPresentation(
                opened.id.description,
                WalletAnswer(.isoDocument, response: try #require(answer["data"]?["response"]?.text)), for: session)
            guard case .age(_, .over21, isReached: true) = outcome else {
                Issue.record("The age was not proved.")
                return
            }
        }
    }

    @Test("answers nothing that is not a request")
    func defects() throws {
        let keys = try Self.directory()
        defer { try? FileManager.default.removeItem(atPath: keys) }
        #expect(throws: CommandFailure.self) { try SampleIssuer(in: keys) }
        _ = try SampleIssuer.create(in: keys, now: TestAuthority.referenceTime)
        let issuer = try SampleIssuer(in: keys)
        let virginia = try #require(Jurisdiction.of(code: "VA"))
        let card = SpecimenCard(
            of: virginia, try #require(SpecimenCard.Name("JANE SAMPLE")), now: TestAuthority.referenceTime)
        for opened in [JSONValue.null, .object([]), .object(["requests": .array([])])] {
            #expect(throws: CommandFailure.self) {
                try SampleLicence(
                    answering: opened, from: "https://app.example", issuer: issuer, card: card,
                    now: TestAuthority.referenceTime)
            }
        }
    }
}
