import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing
import Tokens

@testable import API

@Suite("A proof of the device's key, with the exchange of a session's token")
struct DPoPTests {
    private static let policy = RouterBench.policy { $0.accessTokens.exchangedPerMinute = 1000 }

    /// What the token of an answer is bound to.
    private static func confirmation(_ reply: Reply) throws -> JSONValue? {
        try UnverifiedToken(try #require(reply.text("access_token")), refusing: .malformedRequest).payload["cnf"]
    }

    @Test(
        "binds the token to the key alone, for each kind of device key", arguments: [SignatureAlgorithm.es256, .rs256])
    func bound(_ algorithm: SignatureAlgorithm) async throws {
        let device = try ProvingDevice(algorithm)
        try await RouterBench.run(Self.policy) { bench in
            let person = try await bench.signIn(with: device)
            let proof = try device.proof(bench.fixture.clock.now)
            for _ in 0..<2 {
                // The same proof again: its key is that of the connection.
                let reply = try await bench.exchanged(person.token, proofs: [proof], on: person.connection)
                #expect(reply.status == 200 && reply.text("token_type") == "DPoP")
                let jkt = try device.signer.verificationKey.publicKey.numbers.webKeyThumbprint
                #expect(try Self.confirmation(reply) == .object(["jkt": .string(jkt)]))
            }
            let without = try await bench.exchanged(person.token, on: person.connection)
            #expect(without.text("token_type") == "Bearer")
            #expect(try Self.confirmation(without)?["jkt"] == nil)
        }
    }

    @Test("may name the endpoint in any form of the same URL, within a minute")
    func forms() async throws {
        let device = try ProvingDevice(.es256)
        try await RouterBench.run(Self.policy) { bench in
            let person = try await bench.signIn(with: device)
            let now = bench.fixture.clock.now
            var proofs = try [
                "https://client.example/token?a=b", "https://client.example/token#c", "HTTPS://Client.Example/token",
                "https://client.example:443/token", "https://client.example/%74oken",
                "https://client.example/./a/../token",
            ].map { url in try device.proof(now) { $0[claim: "htu"] = .string(url) } }
            proofs += try [-60, 60].map { shift in
                try device.proof(now) { $0[claim: "iat"] = .integer(Int64(now.timeIntervalSince1970) + shift) }
            }
            proofs.append(
                try device.proof(now) {
                    $0[claim: "nonce"] = .string("none was asked for")
                    $0[header: "kid"] = .string("key")
                    $0[header: "typ"] = .string("application/DPoP+JWT")
                    $0[header: "jku"] = .string("https://evil.example/keys")
                })
            for (index, proof) in proofs.enumerated() {
                let reply = try await bench.exchanged(person.token, proofs: [proof], on: person.connection)
                #expect(reply.status == 200 && reply.text("token_type") == "DPoP", "\(index)")
            }
        }
    }

    @Test("is refused with any defect, by its own error, and there is at most one")
    func hostile() async throws {
        let (device, other) = (try ProvingDevice(.es256), try ProvingDevice(.es256))
        try await RouterBench.run(Self.policy) { bench in
            let person = try await bench.signIn(with: device)
            let now = bench.fixture.clock.now
            let hostile = try HostileProofs.all(device, other, now)
            #expect(hostile.count >= 60)
            #expect(Set(hostile.map(\.proof)).count == hostile.count)
            for one in hostile {
                let reply = try await bench.exchanged(person.token, proofs: [one.proof], on: person.connection)
                #expect(reply.status == 400 && reply.text("error") == "invalid_dpop_proof", "\(one.what)")
                #expect(reply.code == "invalid_dpop_proof", "\(one.what)")
                #expect(reply.text("reason") == one.reason.rawValue, "\(one.what): \(reply.text("reason") ?? "")")
                #expect(reply.text("nonce") != nil && reply.text("access_token") == nil, "\(one.what)")
                reply.judge()
            }
            let good = try device.proof(now)
            let two = try await bench.exchanged(person.token, proofs: [good, good], on: person.connection)
            #expect(two.status == 400 && two.text("error") == "invalid_dpop_proof")
            // A proof opens nothing by itself, and one of another device nothing on this one's connection.
            let thief = try await bench.signIn("eve", with: other)
            let stolen = try await bench.exchanged(thief.token, proofs: [good], on: thief.connection)
            #expect(stolen.text("reason") == "unknown_key")
            #expect(try await person.send("GET /sessions/current").status == 200)
        }
    }

    @Test("has the thumbprints of RFC 7638 §3.1 and RFC 9449 §6.1")
    func vectors() throws {
        let modulus =
            "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3o"
            + "knjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdA"
            + "ZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-"
            + "kEgU8awapJzKnqDKgw"
        let rsa = try VerificationKey(
            jwk: .object(["kty": .string("RSA"), "n": .string(modulus), "e": .string("AQAB")]))
        #expect(rsa.publicKey.numbers.webKeyThumbprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
        let curve = try VerificationKey(
            jwk: .object([
                "kty": .string("EC"), "crv": .string("P-256"),
                "x": .string("l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs"),
                "y": .string("9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"),
            ]))
        #expect(curve.publicKey.numbers.webKeyThumbprint == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
    }
}

extension RouterBench {
    /// A user at a device whose key the test holds.
    fileprivate func signIn(_ user: String = "alice", with device: ProvingDevice) async throws -> SignedIn {
        let request = Service.DeviceRequest(
            csr: try device.signer.layerCSR(deviceID: nil), presenceKey: nil, enrolmentToken: nil, captcha: nil,
            address: "192.0.2.1")
        let certified = try await fixture.certify(request)
        let connection = try await fixture.connect(certified.certificate.thumbprint)
        let opened = try await fixture.opened(user, on: connection)
        return SignedIn(
            bench: self, connection: connection, session: opened.session,
            token: try #require(opened.token).text.reveal(), user: user)
    }
}
