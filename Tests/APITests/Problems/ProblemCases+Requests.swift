import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing
import Tokens

@testable import API

/// Requests with a number, a key or a parameter that is not valid.
extension ProblemCase {
    private static func numbered(
        _ reason: Refusal.Reason, _ says: String, _ text: String, region: String? = nil
    ) -> ProblemCase {
        ProblemCase(.malformedRequest, reason, says) { bench in
            let person = try await bench.signIn()
            func start(_ text: String, _ region: String?) async throws -> Reply {
                let body = JSONValue.object(["phone_number": .string(text), "region": region.map { .string($0) }])
                return try await person.send("POST /phone-verifications", json: body.jsonText)
            }
            return (try await start(text, region), try await start("(415) 555-2671", "US"))
        }
    }

    static let ofPhoneNumbers: [ProblemCase] = [
        numbered(.tooManyCharacters, "at most", String(repeating: "+14155552671 ", count: 6)),
        numbered(.regionUnknown, "in capitals", "415-555-2671", region: "us"),
        numbered(.regionNeeded, "needs the region", "415-555-2671"),
        numbered(.letters, "in digits", "1-800-FLOWERS", region: "US"),
        numbered(.extension, "without one", "+14155552671#12"),
        numbered(.notANumber, "is not a telephone number", "+", region: "US"),
        numbered(.unknownCountryCode, "not in use", "+999 415 555 2671"),
        numbered(.tooShort, "too few digits", "+1 415 555 267"),
        numbered(.tooLong, "too many digits", "+1 415 555 26712"),
        numbered(.notInPlan, "no such telephone number", "+1 415 055 2671"),
    ]

    static let ofTokenRequests: [ProblemCase] = [
        ProblemCase(.malformedRequest, .unsupportedGrantType, "must be one of") { bench in
            let refused = try await bench.post("/token", ["grant_type": "password"])
            return (refused, try await bench.taken(try bench.assertion()))
        },
        ProblemCase(.malformedRequest, .invalidTarget, "id of the session's provider") { bench in
            let person = try await bench.signIn()
            let other = UUID().uuidString.lowercased()
            let refused = try await bench.exchanged(person.token, audience: other, on: person.connection)
            return (refused, try await bench.exchanged(person.token, on: person.connection))
        },
        ProblemCase(.malformedRequest, .invalidScope, "must be one of") { bench in
            let refused = try await bench.taken(try bench.assertion(), scope: "sessions.read keys.write")
            return (refused, try await bench.taken(try bench.assertion(), scope: "sessions.read"))
        },
    ]

    // Keys.

    /// A SubjectPublicKeyInfo of RSA with 1024 bits.
    private static let weakKey =
        [UInt8]([
            0x30, 0x81, 0x9F, 0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
            0x03, 0x81, 0x8D, 0x00, 0x30, 0x81, 0x89, 0x02, 0x81, 0x81, 0x00,
        ]) + [UInt8](repeating: 0xFF, count: 128) + [0x02, 0x03, 0x01, 0x00, 0x01]
    /// One of X25519 (RFC 8410 §4), which signs nothing.
    private static let unsupportedKey =
        [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x6E, 0x03, 0x21, 0x00] + [UInt8](repeating: 9, count: 32)

    private static func certify(
        _ csr: String, _ bench: RouterBench, enrolmentToken: String? = nil
    ) async throws -> Reply {
        let body = JSONValue.object([
            "csr": .string(csr), "enrolment_token": enrolmentToken.map { .string($0) },
        ])
        return try await bench.open("POST /certificates", body: body.jsonText, from: "192.0.2.77")
    }

    private static func newRequest() throws -> String { try ProviderSigner(.es256).layerCSR(deviceID: nil) }

    private static func certify(
        _ reason: Refusal.Reason, _ says: String, by csr: @escaping @Sendable (RouterBench) async throws -> String
    ) -> ProblemCase {
        ProblemCase(.invalidCSR, reason, says) { bench in
            let refused = try await certify(try await csr(bench), bench)
            return (refused, try await certify(try newRequest(), bench))
        }
    }

    /// A request whose key is another than its signature's.
    private static func request(with key: [UInt8], _ algorithm: String, _ type: String) throws -> String {
        try ProviderSigner(.es256).layerCSR(deviceID: nil) { draft in
            draft[header: "alg"] = .string(algorithm)
            draft[claim: "pka"] = .string(type)
            draft[claim: "pky"] = .string(Data(key).base64EncodedString())
        }
    }

    static let ofCertificationRequests: [ProblemCase] = [
        certify(.malformed, "is not a PEM document") { _ in "x" },
        certify(.badProof, "not made with the key") { _ in
            try request(with: try ProviderSigner(.es256).verificationKey.subjectPublicKeyInfo, "ES256", "EC")
        },
        certify(.weakKey, "1024 bits") { _ in try request(with: weakKey, "RS256", "RSA") },
        certify(.unsupportedKey, "not supported") { _ in try request(with: unsupportedKey, "ES256", "EC") },
        certify(.keyInUse, "Another certificate has this key") { bench in
            let signer = try ProviderSigner(.es256)
            #expect(try await certify(try signer.layerCSR(deviceID: nil, userAgent: "a"), bench).status == 201)
            return try signer.layerCSR(deviceID: nil, userAgent: "b")
        },
        certify(.keyRevoked, "was revoked") { bench in
            let csr = try newRequest()
            let device = Service.DeviceRequest(
                csr: csr, presenceKey: nil, enrolmentToken: nil, captcha: nil, address: "192.0.2.1")
            let connection = try await bench.fixture.connect(
                try await bench.fixture.certify(device).certificate.thumbprint)
            #expect(try await bench.client("DELETE /certificates/current", on: connection).status == 204)
            return csr
        },
        ProblemCase(
            .invalidCSR, .gate, "enrolment token is missing",
            policy: RouterBench.policy { $0.certification.gate = .provider }
        ) { bench in
            let (csr, fixture) = (try newRequest(), bench.fixture)
            let token = try fixture.signer.enrolmentToken(
                provider: fixture.registration.provider.id, kid: fixture.registration.keyID,
                realm: ServiceFixture.realm, identifier: "once", now: fixture.clock.now)
            return (try await certify(csr, bench), try await certify(csr, bench, enrolmentToken: token))
        },
    ]

    private static func pem(_ key: [UInt8], _ label: String = "PUBLIC KEY") -> String {
        let lines = Data(key).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(lines)\n-----END \(label)-----\n"
    }

    private static func add(
        _ reason: Refusal.Reason, _ says: String, _ key: String? = nil
    ) -> ProblemCase {
        ProblemCase(.invalidProviderKey, reason, says) { bench in
            let signer = try ProviderSigner(.es256)
            let refused = try await bench.addKey(
                key ?? signer.publicKeyPEM, provenBy: try key == nil ? ProviderSigner(.es256) : signer)
            return (refused, try await bench.addKey(signer.publicKeyPEM, provenBy: signer))
        }
    }

    static let ofProviderKeys: [ProblemCase] = [
        add(.malformed, "no PEM block", "x"),
        add(.privateKey, "is a private key", pem([0x30, 0x00], "PRIVATE KEY")),
        add(.weakKey, "1024 bits", pem(weakKey)),
        add(.unsupportedKey, "not supported", pem(unsupportedKey)),
        add(.badProof, "not signed with the new key"),
    ]

    // Levels.

    static let ofLevels: [ProblemCase] = [
        ProblemCase(.notVerified, .caller, "Verify a phone number first") { bench in
            let person = try await bench.signIn()
            let refused = try await person.send("GET /contact-discovery")
            #expect(refused.text("required_level") == "phone")
            try await bench.prove(number, person)
            return (refused, try await person.send("GET /contact-discovery"))
        },
        ProblemCase(.notVerified, .caller, "Verify a phone number, then show a card") { bench in
            let person = try await bench.signIn("ann")
            _ = try await bench.verified("bob", 2)
            func ask() async throws -> Reply {
                try await person.send("POST /authorizations", json: #"{"id":"\#(UUID())","to":"test/bob"}"#)
            }
            let refused = try await ask()
            #expect(refused.text("required_level") == "barcode")
            try await bench.prove(number, person)
            let shown = try await person.send("POST /identity-cards", json: try RouterBench.card())
            #expect(shown.status == 201)
            return (refused, try await ask())
        },
        ProblemCase(.notVerified, .partner, "the other user has the level") { bench in
            let bob = try await bench.signIn("bob")
            let ann = try await bench.verified("ann", 1)
            func ask() async throws -> Reply {
                try await ann.send("POST /authorizations", json: #"{"id":"\#(UUID())","to":"test/bob"}"#)
            }
            let refused = try await ask()
            try await bench.prove(number, bob)
            let shown = try await bob.send("POST /identity-cards", json: try RouterBench.card())
            #expect(shown.status == 201)
            return (refused, try await ask())
        },
    ]
}
