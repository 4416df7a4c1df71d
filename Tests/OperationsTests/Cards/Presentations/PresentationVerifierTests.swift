import Authority
import Crypto
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

@testable import Cards
@testable import Tokens

@Suite("The verification of a presentation")
struct PresentationVerifierTests {
    private let issuer: WalletIssuer
    private static let uri = "https://dmv.example/status/1"

    init() throws {
        issuer = try WalletIssuer()
    }

    private func verifier(
        types: Set<String>? = nil, status: StatusRequirement = .ifPresent, lists: [[UInt8]] = []
    ) throws -> PresentationVerifier {
        PresentationVerifier(
            trust: IssuerTrust([try IssuerTrust.Anchor(issuer.root, types: types)]), status: status,
            lists: lists.map { PresentationVerifier.FetchedList(uri: Self.uri, bytes: $0) })
    }

    private func refusal(
        _ answer: PresentationVerifier.Answer, to request: PresentationRequest, by verifier: PresentationVerifier? = nil
    ) throws -> PresentationDefect.Reason? {
        let verifier = try verifier ?? self.verifier()
        do throws(PresentationDefect) {
            _ = try verifier.verify(answer, to: request, now: issuer.now)
        } catch { return error.reason }
        return nil
    }

    private static func token(_ id: String, _ presentation: String) -> [UInt8] {
        JSONValue.object(["vp_token": .object([id: .array([.string(presentation)])])]).jsonBytes
    }

    @Test("accepts both formats from issuers that are trusted for the type alone")
    func accepted() throws {
        let document = DocumentMint.request()
        let answer = PresentationVerifier.Answer.token(
            Self.token("mdl", Base64URL.encode(try DocumentMint(issuer).response(to: document))))
        guard case .document(let presented) = try verifier().verify(answer, to: document, now: issuer.now) else {
            Issue.record("The answer was read as another format.")
            return
        }
        #expect(presented.isAtLeast(18) == true && presented.signer.country == "US")
        #expect(try refusal(answer, to: document, by: verifier(types: [DocumentMint.licence])) == nil)
        #expect(try refusal(answer, to: document, by: verifier(types: [CredentialMint.type])) == .unknownIssuer)
        let credential = CredentialMint.request()
        let text = PresentationVerifier.Answer.token(
            Self.token("pid", try CredentialMint(issuer).presentation(for: credential)))
        guard case .credential(let shown) = try verifier().verify(text, to: credential, now: issuer.now) else {
            Issue.record("The answer was read as another format.")
            return
        }
        #expect(shown[["family_name"]] == .string("SAMPLE"))
        #expect(try refusal(text, to: credential, by: verifier(types: [DocumentMint.licence])) == .unknownIssuer)
        #expect(try refusal(text, to: document) == .notAsked)
    }

    @Test("verifies the chain of the certificates in the answer")
    func chains() throws {
        let other = try WalletIssuer()
        func refusal(_ certificates: [[UInt8]]) throws -> PresentationDefect.Reason? {
            var mint = DocumentMint(issuer)
            mint.certificates = certificates
            return try self.refusal(.deviceResponse(mint.response()), to: DocumentMint.request())
        }
        #expect(try refusal([issuer.certificate]) == nil)
        #expect(try refusal([issuer.certificate, issuer.root]) == nil)
        #expect(try refusal([]) == .unknownIssuer)
        #expect(try refusal([other.certificate]) == .issuerCertificate)
        #expect(try refusal([issuer.root]) == .issuerCertificate)
        // A signer that the issuer certified, but not the one that signed this document.
        let second = try issuer.certifiedOtherKey()
        #expect(try refusal([second]) == .issuerSignature)
        let forged = try DocumentMint(other).response()
        #expect(try self.refusal(.deviceResponse(forged), to: DocumentMint.request()) == .issuerCertificate)
    }

    @Test("opens what is encrypted for the request, by both ways")
    func encrypted() throws {
        let key = ResponseKey(id: "1", privateKey: P256.KeyAgreement.PrivateKey())
        let request = DocumentMint.request(
            .annexC(origin: "https://app.example", encryptionInfo: "gmVkY2FwaQ"), keyThumbprint: key.thumbprint)
        func answer(_ transcript: SessionTranscript) throws -> PresentationVerifier.Answer {
            var sender = try HPKE.Sender(
                recipientKey: key.privateKey.publicKey,
                ciphersuite: .init(kem: .P256_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_128),
                info: Data(transcript.bytes))
            let content = Array(try sender.seal(Data(DocumentMint(issuer).response(to: request))))
            let members: [CBORKey: CBORValue] = [
                "enc": .bytes(Array(sender.encapsulatedKey)[...]), "cipherText": .bytes(content[...]),
            ]
            return .annexC(Base64URL.encode(CBORValue.array([.text("dcapi"), .map(members)]).encoded), key)
        }
        #expect(try refusal(answer(SessionTranscript(request)), to: request) == nil)
        #expect(try refusal(answer(SessionTranscript(DocumentMint.request())), to: request) == .undecryptable)
        #expect(try refusal(.encrypted("a.b.c.d.e", key), to: request) == .malformed)
    }

    @Test("looks a status up in the list that the issuer's root answers for")
    func status() throws {
        let reference = CBORValue.map(["status_list": .map(["idx": .unsigned(1), "uri": .text(Self.uri)])])
        func refusal(_ requirement: StatusRequirement, _ lists: [[UInt8]]) throws -> PresentationDefect.Reason? {
            var mint = DocumentMint(issuer)
            mint.status = reference
            return try self.refusal(
                .deviceResponse(mint.response()), to: DocumentMint.request(),
                by: verifier(status: requirement, lists: lists))
        }
        let list = try StatusListMint(issuer).token()
        #expect(try refusal(.ifPresent, [list]) == .revoked)
        #expect(try refusal(.off, [list]) == nil)
        #expect(try refusal(.ifPresent, []) == .statusUnknown)
        #expect(try refusal(.required, []) == .statusUnknown)
        // A list in the form of the other format, a list of another issuer, and bytes that are no list.
        var jwt = StatusListMint(issuer)
        jwt.isJWT = true
        #expect(try refusal(.ifPresent, [jwt.token()]) == .statusUnknown)
        #expect(try refusal(.ifPresent, [StatusListMint(WalletIssuer()).token()]) == .statusUnknown)
        #expect(try refusal(.ifPresent, [[0]]) == .statusUnknown)
    }

    @Test("reports every rule that an answer breaks, and the form's defect alone")
    func results() throws {
        let request = DocumentMint.request(nonce: "other")
        var mint = DocumentMint(try WalletIssuer())
        mint.validUntil = issuer.now - 3600
        let answer = PresentationVerifier.Answer.deviceResponse(try mint.response())
        let results = try verifier().results(answer, to: request, now: issuer.now)
        #expect(results.compactMap { $0.defect?.reason } == [.issuerCertificate, .expired, .deviceSignature])
        #expect(throws: PresentationDefect.self) {
            try verifier().results(.deviceResponse([0]), to: request, now: issuer.now)
        }
    }
}
