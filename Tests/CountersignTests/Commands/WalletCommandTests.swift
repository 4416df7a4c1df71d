import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

@testable import Tokens
@testable import countersign

@Suite("The command that explains a wallet's answer")
struct WalletCommandTests {
    private let issuer: WalletIssuer
    private let directory: TemporaryDirectory

    init() throws {
        issuer = try WalletIssuer()
        directory = try TemporaryDirectory()
        try write("iaca.pem", "Types: \(DocumentMint.licence)\n" + PEM.encode(issuer.root, label: "CERTIFICATE"))
    }

    private func write(_ name: String, _ text: String) throws {
        try text.write(toFile: "\(directory.path)/\(name)", atomically: true, encoding: .utf8)
    }

    /// The file of an answer and its request.
    private func capture(_ response: [UInt8], nonce: String? = nil) -> String {
        let request = DocumentMint.request()
        let claims = request.credentials[0].claims.map { JSONValue.array($0.map { .string($0) }) }
        return JSONValue.object([
            "origin": .string("https://app.example"), "nonce": .string(nonce ?? request.nonce),
            "key_thumbprint": .string(Base64URL.encode(request.keyThumbprint)),
            "query": .array([
                .object([
                    "id": .string("mdl"), "format": .string("mso_mdoc"), "type": .string(DocumentMint.licence),
                    "claims": .array(claims),
                ])
            ]), "device_response": .string(Base64URL.encode(response)),
        ]).jsonText
    }

    private func verify(_ text: String, _ more: [String] = []) async throws -> Command.Result {
        try write("answer.json", text)
        return try await Command.run(
            try RunningService.product("countersign"),
            ["wallet", "verify", "\(directory.path)/answer.json", "--at", issuer.now.rfc3339] + more)
    }

    private var issuers: [String] { ["--issuers", directory.path] }

    @Test("ends with 0 for an answer that is accepted, and shows every rule")
    func accepted() async throws {
        let result = try await verify(capture(DocumentMint(issuer).response()), issuers)
        #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
        #expect(result.output.contains("issuer's signature") && !result.output.contains("surplus"), "\(result)")
        let json = try await verify(capture(DocumentMint(issuer).response()), issuers + ["--json"])
        #expect(json.output.hasPrefix("{\"accepted\":true,\"reason\":null,\"rules\":[{\"rule\":"), "\(json)")
    }

    @Test("takes a redirect as it was sent: the signed request, and the form of the wallet")
    func redirect() async throws {
        let number = Base64URL.encode([UInt8](repeating: 1, count: 32))
        let key = try #require(ResponseKey(numberText: number))
        let claims = [
            "family_name", "given_name", "birth_date", "issue_date", "expiry_date", "issuing_country",
            "document_number",
        ]
        let query = CredentialQuery(
            [
                RequestedCredential(
                    id: "mdl", format: .mobileDocument, type: DocumentMint.licence,
                    claims: claims.map { [DocumentMint.nameSpace, $0] })
            ], formats: [.mobileDocument])
        let presentation = Presentation(
            id: PresentationID(UUID()), userID: UserID(UUID()), deviceID: DeviceID(UUID()),
            sessionID: SessionID(UUID()), channel: .sameDevice, wanted: .identity, state: .open,
            nonce: [UInt8](repeating: 2, count: 32), origin: StandInWallet.returnAddress, reason: nil, attempts: 0,
            createdAt: issuer.now, expiresAt: issuer.now + 300)
        let request = try RequestObject(
            for: presentation, query: query, key: key, state: "s",
            answeredAt: "https://id.example/wallet/responses/s", walletNonce: nil
        ).signed(by: WalletReader(key: issuer.signerKey, certificates: [issuer.certificate]))
        let received = ReceivedRequest(.openID4VP, .object(["request": .string(request)]))
        var mint = DocumentMint(issuer)
        mint.elements = StandInWallet.licence
        let answer = try received.answer(presenting: try mint.response(to: received.request())).response
        func capture(_ request: String, _ response: String) -> String {
            JSONValue.object([
                "request": .string(request), "response": .string(response),
                "key": .object([
                    "kty": .string("EC"), "crv": .string("P-256"), "d": .string(number), "kid": .string(key.id),
                ]),
            ]).jsonText
        }
        for response in [answer, "response=\(answer)", "state=s&response=\(answer)"] {
            let result = try await verify(capture(request, response), issuers)
            #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
        }
        let other = try received.answer(presenting: try mint.response()).response
        let refused = try await verify(capture(request, "response=\(other)"), issuers)
        #expect(refused.status == 1 && refused.output.contains("device_signature"), "\(refused)")
        for (text, words) in [("x", "$.request"), ("a.e30.b", "dcql_query")] {
            let result = try await verify(capture(text, answer), issuers)
            #expect(result.status == 1 && result.errors.contains(words), "\(text): \(result)")
        }
    }

    @Test("ends with 1 and names each reason")
    func refused() async throws {
        var mint = DocumentMint(issuer)
        mint.validUntil = issuer.now - 3600
        let result = try await verify(capture(mint.response(), nonce: "other"), issuers + ["--json"])
        #expect(result.status == 1, "\(result)")
        #expect(result.output.hasPrefix("{\"accepted\":false,\"reason\":\"expired\","), "\(result)")
        #expect(result.output.contains("\"reason\":\"device_signature\""), "\(result)")
        let form = try await verify(capture([0]), issuers + ["--json"])
        #expect(form.status == 1 && form.output.contains("\"rule\":\"form\",\"reason\":\"malformed\""), "\(form)")
        let other = try await verify(capture(DocumentMint(WalletIssuer()).response()), issuers)
        #expect(other.status == 1 && other.output.contains("issuer_certificate"), "\(other)")
    }

    @Test("reads the list that --status-list names")
    func status() async throws {
        let uri = "https://dmv.example/status/1"
        var mint = DocumentMint(issuer)
        mint.status = .map(["status_list": .map(["idx": .unsigned(1), "uri": .text(uri)])])
        let list = "\(directory.path)/list.cwt"
        try Data(StatusListMint(issuer).token()).write(to: URL(fileURLWithPath: list))
        let answer = try capture(mint.response())
        let revoked = try await verify(answer, issuers + ["--status-list", "\(uri)=\(list)"])
        #expect(revoked.status == 1 && revoked.output.contains("revoked"), "\(revoked)")
        let unknown = try await verify(answer, issuers)
        #expect(unknown.status == 1 && unknown.output.contains("status_unknown"), "\(unknown)")
        #expect(try await verify(answer, issuers + ["--status", "off"]).status == 0)
    }

    @Test("names the file or member that is wrong")
    func files() async throws {
        for (text, words) in [
            ("{", "answer.json: $"), ("{}", "must have origin"), (#"{"origin":"https://a.example"}"#, "$.query"),
            (#"{"client_id":"x"}"#, "response_uri"),
            (#"{"origin":"https://a.example","query":[{"id":"a"}]}"#, "$.query[0]"),
            (
                #"{"origin":"o","query":[{"id":"a","format":"mso_mdoc","type":"t","claims":[["a","b"]]}],"response":"x"}"#,
                "$.key"
            ),
        ] {
            let result = try await verify(text, issuers)
            #expect(result.status == 1 && result.errors.contains(words), "\(text): \(result)")
        }
        let answer = try capture(DocumentMint(issuer).response())
        let none = try await verify(answer, ["--issuers", directory.path + "/none"])
        #expect(none.status == 1 && none.errors.contains("--issuers"), "\(none)")
        try write("signer.pem", PEM.encode(issuer.certificate, label: "CERTIFICATE"))
        let signer = try await verify(answer, issuers)
        #expect(signer.status == 1 && signer.errors.contains("signer.pem"), "\(signer)")
    }

    @Test("agrees with the programs of others: isomdoc, sd-jwt, jwcrypto and pyhpke")
    func others() async throws {
        let countersign = try RunningService.product("countersign")
        let output = try await expectScript("Wallet/wallet.py", ["--countersign", countersign])
        #expect(output.hasSuffix("answers\n"))
    }
}
