import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Operations
import Testing

@testable import API

@Suite("The routes of certificates")
struct CertificateRouteTests {
    @Test("answer, and refuse by each code of theirs", arguments: cases)
    func answers(_ one: RouteCase) async throws { try await one.run() }

    private static func certify(_ csr: String, _ bench: RouterBench) async throws -> Reply {
        let body = JSONValue.object(["csr": .string(csr)]).jsonText
        return try await bench.open("POST /certificates", body: body, from: "192.0.2.77")
    }

    private static func newCSR() throws -> String {
        try TestAuthority.certificationRequest(commonName: UUID().uuidString)
    }

    /// A device whose certificate may be renewed.
    private static func due(_ bench: RouterBench) async throws -> ClientConnection {
        let certificate = try await bench.fixture.certify(try bench.fixture.request()).certificate
        let connection = try await bench.fixture.connect(certificate.thumbprint)
        bench.fixture.clock.advance(certificate.renewAfter.timeIntervalSince(bench.fixture.clock.now))
        try await bench.fixture.watch.poll()
        return connection
    }

    private static func renew(_ csr: String?, _ bench: RouterBench, on connection: ClientConnection) async throws
        -> Reply
    {
        try await bench.client(
            "POST /certificates/renewal", json: csr.map { JSONValue.object(["csr": .string($0)]).jsonText },
            on: connection)
    }

    static let cases: [RouteCase] = [
        RouteCase("POST /certificates", 201) { bench in
            let reply = try await certify(try newCSR(), bench)
            #expect(reply.headers[.connection] == "close" && reply.text("serial")?.count == 32)
            #expect(reply.text("certificate")?.hasPrefix("-----BEGIN CERTIFICATE-----") == true)
            return reply
        },
        RouteCase("POST /certificates", 200) { bench in
            let csr = try newCSR()
            let first = try await certify(csr, bench)
            let second = try await certify(csr, bench)
            #expect(first.text("certificate") == second.text("certificate"))
            return second
        },
        RouteCase("POST /certificates", 422, .invalidCSR, reason: "malformed") { bench in try await certify("x", bench)
        },
        RouteCase(
            "POST /certificates", 429, .rateLimited,
            policy: RouterBench.policy { $0.certification.perHourPerSender.perAddress = 1 }
        ) {
            bench in
            _ = try await certify(try newCSR(), bench)
            return try await certify(try newCSR(), bench)
        },
        RouteCase("POST /certificates", 422, .invalidCSR, reason: "gate") { bench in
            let challenge = try await bench.open("POST /attestation-challenges").text("challenge") ?? ""
            let attestation = JSONValue.object([
                "kind": .string("app_attest"), "challenge": .string(challenge),
                "key_id": .string(Base64URL.encode([UInt8](repeating: 1, count: 32))), "object": .string("oA=="),
            ])
            let body = JSONValue.object(["csr": .string(try newCSR()), "attestation": attestation]).jsonText
            let reply = try await bench.open("POST /certificates", body: body, from: "192.0.2.77")
            #expect(reply.text("detail") == AttestationDefect.object.rawValue)
            return reply
        },
        RouteCase("POST /certificates", 400, .malformedRequest) { bench in
            let attestation = JSONValue.object(["kind": .string("android_key"), "challenge": .string("x")])
            let body = JSONValue.object(["csr": .string(try newCSR()), "attestation": attestation]).jsonText
            let reply = try await bench.open("POST /certificates", body: body, from: "192.0.2.77")
            #expect(reply.text("detail") == "$.attestation.chain is missing. Send it.")
            return reply
        },
        RouteCase("POST /attestation-challenges", 201) { bench in
            let reply = try await bench.open("POST /attestation-challenges")
            #expect(reply.text("challenge")?.count == 64 && reply.text("expires_at") != nil)
            return reply
        },
        RouteCase("GET /certificates/authority", 200) { bench in
            let reply = try await bench.open("GET /certificates/authority")
            #expect(reply.headers[.contentType] == "application/pem-certificate-chain")
            #expect(
                String(decoding: reply.body, as: UTF8.self) == bench.fixture.context.authorityCertificates.joined())
            return reply
        },
        RouteCase("GET /certificates/revocations", 200) { bench in
            let reply = try await bench.open("GET /certificates/revocations")
            #expect(
                reply.headers[.contentType] == "application/pkix-crl" && reply.headers[.cacheControl] == "max-age=300")
            #expect(try await reply.body == bench.fixture.publish())
            let authority = bench.fixture.publish.authorityID.base64URL
            #expect(try await bench.open("GET /certificates/revocations?authority=\(authority)").body == reply.body)
            let pem = try await bench.send(
                .public, "GET /certificates/revocations", headers: [.accept: "application/x-pem-file"])
            #expect(pem.headers[.contentType] == "application/x-pem-file")
            #expect(String(decoding: pem.body, as: UTF8.self).hasPrefix("-----BEGIN X509 CRL-----"))
            return reply
        },
        RouteCase("GET /certificates/revocations", 404, .notFound) { bench in
            try await bench.open("GET /certificates/revocations?authority=unknown")
        },
        RouteCase("GET /certificates/revocations", 304) { bench in
            let tag = try #require(try await bench.open("GET /certificates/revocations").headers[.eTag])
            let reply = try await bench.send(.public, "GET /certificates/revocations", headers: [.ifNoneMatch: tag])
            #expect(reply.body.isEmpty && reply.headers[.eTag] == tag)
            return reply
        },
        RouteCase("POST /certificates/renewal", 201) { bench in
            let reply = try await renew(nil, bench, on: try await due(bench))
            #expect(reply.text("serial") != nil)
            return reply
        },
        RouteCase("POST /certificates/renewal", 201) { bench in
            try await renew(try newCSR(), bench, on: try await due(bench))
        },
        RouteCase("POST /certificates/renewal", 409, .conflict) { bench in
            let reply = try await renew(nil, bench, on: try await bench.fixture.connectNewDevice())
            #expect(reply.text("state") == "not_due")
            return reply
        },
        RouteCase("POST /certificates/renewal", 422, .invalidCSR, reason: "malformed") { bench in
            try await renew("x", bench, on: try await due(bench))
        },
        RouteCase(
            "POST /certificates/renewal", 429, .rateLimited,
            policy: RouterBench.policy { $0.certification.renewalsPerDay = 1 }
        ) {
            bench in
            let connection = try await due(bench)
            _ = try await renew(nil, bench, on: connection)
            return try await renew(nil, bench, on: connection)
        },
        RouteCase("DELETE /certificates/current", 204) { bench in
            let person = try await bench.signIn()
            let reply = try await person.send("DELETE /certificates/current")
            #expect(reply.headers[.connection] == "close")
            #expect(try await person.send("POST /nonces").code == "certificate_revoked")
            return reply
        },
        RouteCase("DELETE /certificates/current", 409, .conflict) { bench in
            let certificate = try await bench.fixture.certify(try bench.fixture.request()).certificate
            let connection = try await bench.fixture.connect(certificate.thumbprint)
            // It is given up at another node, of which this one has not heard.
            let other = try await bench.fixture.moved()
            try await other.revokeCertificate.own(of: try await other.connect(certificate.thumbprint))
            return try await bench.client("DELETE /certificates/current", on: connection)
        },
    ]
}
