import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing
import Tokens

@testable import API

/// Bent proofs of devices: of presence, and of a key.
extension ProblemCase {
    static let number = "+14155552671"

    private static let presenceRequired = RouterBench.policy { $0.phones.presenceRequired = true }

    /// A user at a device with a presence key.
    private static func present(_ bench: RouterBench, _ signer: ProviderSigner) async throws -> SignedIn {
        try await bench.signIn(
            by: Service.DeviceRequest(
                csr: try TestAuthority.certificationRequest(commonName: UUID().uuidString),
                presenceKey: signer.publicKeyPEM, enrolmentToken: nil, captcha: nil, address: "192.0.2.1"))
    }

    private static func presence(
        _ nonce: String, by signer: ProviderSigner, _ bench: RouterBench, _ edit: Edit = { _ in }
    ) throws -> String {
        var draft = TokenDraft(contentType: "layer-presence;v=1", algorithm: .es256, kid: nil)
        draft[claim: "nce"] = .string(nonce)
        draft[claim: "iat"] = .integer(Int64(bench.fixture.clock.now.timeIntervalSince1970))
        draft[claim: "method"] = .string("touch_id")
        draft[claim: "phone_sha256"] = .string(Digest256.of(number).base64URL)
        edit(&draft)
        return try signer.sign(draft)
    }

    private static func start(_ person: SignedIn, _ proof: String?) async throws -> Reply {
        let body = JSONValue.object(["phone_number": .string(number), "presence": proof.map { .string($0) }])
        return try await person.send("POST /phone-verifications", json: body.jsonText)
    }

    /// Starts a verification with a bent proof, and then with a good one around the nonce of the refusal.
    private static func verify(
        _ reason: Refusal.Reason, _ says: String,
        by proof: @escaping @Sendable (SignedIn, ProviderSigner) async throws -> String?
    ) -> ProblemCase {
        ProblemCase(.invalidPresenceProof, reason, says, policy: presenceRequired) { bench in
            let signer = try ProviderSigner(.es256)
            let person = try await present(bench, signer)
            let refused = try await start(person, try await proof(person, signer))
            let good = try presence(try #require(refused.text("nonce")), by: signer, bench)
            return (refused, try await start(person, good))
        }
    }

    private static let bentPresences: [(Refusal.Reason, String, Edit)] = [
        (.malformed, "phone_sha256", { $0[claim: "phone_sha256"] = .string(Digest256.of("+14155552672").base64URL) }),
        (.unsupportedHeader, "has jwk", { $0[header: "jwk"] = .object([]) }),
        (.wrongType, "cty is not", { $0[header: "cty"] = .string("layer-eit;v=1") }),
        (.algorithmMismatch, "alg is not ES256", { $0[header: "alg"] = .string("ES384") }),
        (.missingClaim, "method is missing", { $0[claim: "method"] = nil }),
        (.expired, " s ago", { $0[claim: "iat"] = .integer(seconds - 361) }),
        (.notYetValid, "in the future", { $0[claim: "iat"] = .integer(seconds + 61) }),
        (.nonceUnknown, "did not issue the nonce", { $0[claim: "nce"] = .string("mine") }),
    ]

    static let ofPresenceProofs: [ProblemCase] = ofBentPresences + ofOtherPresences

    private static let ofBentPresences: [ProblemCase] = bentPresences.map { reason, says, edit in
        verify(reason, says) { person, signer in
            try presence(
                person.bench.fixture.context.issueNonce(person.connection).nonce, by: signer, person.bench, edit)
        }
    }

    private static let ofOtherPresences: [ProblemCase] = [
        verify(.missing, "presence is missing") { _, _ in nil },
        verify(.badSignature, "not signed by") { person, _ in
            try presence(
                person.bench.fixture.context.issueNonce(person.connection).nonce, by: try ProviderSigner(.es256),
                person.bench)
        },
        verify(.nonceExpired, "expired") { person, signer in
            let fixture = person.bench.fixture
            let nonce = fixture.context.issueNonce(person.connection)
            fixture.clock.advance(nonce.expiresAt.timeIntervalSince(fixture.clock.now) + 1)
            return try presence(nonce.nonce, by: signer, person.bench)
        },
        verify(.nonceUsed, "used before") { person, signer in
            let proof = try presence(
                person.bench.fixture.context.issueNonce(person.connection).nonce, by: signer, person.bench)
            #expect(try await start(person, proof).status == 202)
            return proof
        },
        verify(.nonceOtherDevice, "another device") { person, signer in
            let other = try await person.bench.fixture.connectNewDevice()
            return try presence(
                person.bench.fixture.context.issueNonce(other).nonce, by: signer, person.bench)
        },
        ProblemCase(.invalidPresenceProof, .unknownKey, "no presence_key", policy: presenceRequired) { bench in
            let signer = try ProviderSigner(.es256)
            let person = try await bench.signIn()
            let proof = try presence(
                bench.fixture.context.issueNonce(person.connection).nonce, by: signer, bench)
            let refused = try await start(person, proof)
            let again = try await present(bench, signer)
            let good = try presence(bench.fixture.context.issueNonce(again.connection).nonce, by: signer, bench)
            return (refused, try await start(again, good))
        },
        ProblemCase(
            .invalidPresenceProof, .captcha, "captcha was not accepted",
            policy: RouterBench.policy { $0.certification.captchaURL = "https://captcha.example/siteverify" }
        ) { bench in
            let person = try await bench.signIn()
            func start(_ captcha: String) async throws -> Reply {
                try await person.send(
                    "POST /phone-verifications", json: #"{"phone_number":"\#(number)","captcha":"\#(captcha)"}"#)
            }
            return (try await start("wrong"), try await start("solved"))
        },
    ]

    // Proofs of a key.

    private static let dpopSentences: [(Refusal.Reason, String)] = [
        (.malformed, ""), (.unsupportedHeader, "not supported"), (.wrongType, "typ"), (.unknownKey, "not the key"),
        (.algorithmMismatch, "alg is not one"), (.badSignature, "not signed by"), (.missingClaim, "is missing"),
        (.expired, " ago"), (.notYetValid, "in the future"), (.wrongAudience, "is not"), (.privateKey, "private"),
        (.unsupportedKey, "upport"),
    ]

    /// One device for all of them: making the proofs takes its time.
    private static let hostile = Result {
        let device = try ProvingDevice(.es256)
        return (device: device, proofs: try HostileProofs.all(device, try ProvingDevice(.es256), now))
    }

    static let ofDPoPProofs: [ProblemCase] = ofHostileProofs + [ofWeakProof]

    private static let ofHostileProofs: [ProblemCase] = dpopSentences.map { reason, says in
        prove(reason, says) {
            let proofs = try hostile.get().proofs
            return try #require(proofs.first { $0.reason == reason }).proof
        }
    }

    private static let ofWeakProof = prove(.weakKey, "1024 bits") {
        try hostile.get().device.proof(now) { draft in
            draft[header: "jwk"] = .object([
                "kty": .string("RSA"), "n": .string(Base64URL.encode([UInt8](repeating: 0xFF, count: 128))),
                "e": .string("AQAB"),
            ])
        }
    }

    /// Exchanges a session with a bent proof, and then with a good one.
    private static func prove(
        _ reason: Refusal.Reason, _ says: String, by proof: @escaping @Sendable () throws -> String
    ) -> ProblemCase {
        ProblemCase(.invalidDPoPProof, reason, says) { bench in
            let device = try hostile.get().device
            let person = try await bench.signIn(
                by: Service.DeviceRequest(
                    csr: try device.signer.layerCSR(deviceID: nil), presenceKey: nil, enrolmentToken: nil,
                    captcha: nil, address: "192.0.2.1"))
            func exchange(_ proof: String) async throws -> Reply {
                try await bench.exchanged(person.token, proofs: [proof], on: person.connection)
            }
            return (try await exchange(try proof()), try await exchange(try device.proof(now)))
        }
    }
}

extension RouterBench {
    /// Signs alice in at a device that is certified by a request of its own.
    func signIn(by request: Service.DeviceRequest) async throws -> SignedIn {
        let connection = try await fixture.connect(try await fixture.certify(request).certificate.thumbprint)
        let opened = try await fixture.opened("alice", on: connection)
        return SignedIn(
            bench: self, connection: connection, session: opened.session,
            token: try #require(opened.token).text.reveal(), user: "alice")
    }
}
