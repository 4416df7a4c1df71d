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

@Suite("The routes of discovery and of probes")
struct DiscoveryRouteTests {
    @Test("answer, and refuse by each code of theirs", arguments: cases)
    func answers(_ one: RouteCase) async throws { try await one.run() }

    private static func described(_ call: String, _ bench: RouterBench) async throws -> Reply {
        let reply = try await bench.open(call)
        #expect(reply.text("realm") == "test" && reply.text("nonce_endpoint") == "https://client.example/nonces")
        #expect(reply.text("certificates_endpoint") == "https://public.example/certificates")
        return reply
    }

    static let cases: [RouteCase] = [
        RouteCase("GET /", 200) { bench in try await described("GET /", bench) },
        RouteCase("GET /.well-known/countersign", 200) { bench in
            try await described("GET /.well-known/countersign", bench)
        },
        RouteCase("GET /.well-known/jwks.json", 200) { bench in
            let reply = try await bench.open("GET /.well-known/jwks.json")
            #expect(reply["keys"] == .array([.object(["kid": .string("key")])]))
            return reply
        },
        RouteCase("GET /.well-known/oauth-authorization-server", 200) { bench in
            let reply = try await bench.open("GET /.well-known/oauth-authorization-server")
            #expect(reply.text("issuer") == "https://public.example")
            #expect(reply.text("token_endpoint") == "https://public.example/token")
            #expect(reply["mtls_endpoint_aliases"]?["token_endpoint"]?.text == "https://client.example/token")
            #expect(reply["tls_client_certificate_bound_access_tokens"] == .bool(true))
            let algorithms = ["ES256", "ES384", "RS256", "PS256"].map { JSONValue.string($0) }
            #expect(reply["dpop_signing_alg_values_supported"] == .array(algorithms))
            return reply
        },
        RouteCase("GET /.well-known/oauth-protected-resource", 200) { bench in
            let connection = try await bench.fixture.connectNewDevice()
            let reply = try await bench.client("GET /.well-known/oauth-protected-resource", on: connection)
            #expect(reply.text("resource") == "https://client.example")
            #expect(reply["authorization_servers"] == .array([.string("https://public.example")]))
            return reply
        },
        RouteCase("GET /openapi.json", 200) { bench in
            let reply = try await bench.open("GET /openapi.json")
            let text = String(decoding: reply.body, as: UTF8.self)
            #expect(text.contains("https://client.example") && !text.contains("https://127.0.0.1:844"))
            return reply
        },
        RouteCase("GET /problems", 200) { bench in
            let reply = try await bench.open("GET /problems")
            guard case .array(let problems)? = reply["problems"] else { return reply }
            #expect(problems.map { $0["code"]?.text } == ProblemKind.all.map(\.code))
            return reply
        },
        RouteCase("GET /problems/{code}", 200) { bench in
            let reply = try await bench.open("GET /problems/session_expired")
            #expect(reply.text("type") == "https://public.example/problems/session_expired")
            #expect(reply["example"]?["type"] == reply["type"] && reply["example"]?["status"] == .integer(401))
            return reply
        },
        RouteCase("GET /problems/{code}", 404, .notFound) { bench in
            let reply = try await bench.open("GET /problems/%3Cscript%3E")
            #expect(reply.text("type") == "https://public.example/problems/not_found")
            #expect(!String(decoding: reply.body, as: UTF8.self).contains("script"))
            return reply
        },
        RouteCase("GET /livez", 200) { bench in try await bench.send(.ops, "GET /livez") },
        RouteCase("GET /readyz", 200) { bench in
            let reply = try await bench.send(.ops, "GET /readyz")
            #expect(reply["ready"] == .bool(true))
            return reply
        },
        RouteCase("GET /readyz", 503) { bench in
            bench.state.isReady = false
            let reply = try await bench.send(.ops, "GET /readyz")
            #expect(reply["ready"] == .bool(false) && reply["store"] == .bool(false) && reply["view"] == .bool(true))
            return reply
        },
        RouteCase("GET /metrics", 200) { bench in
            _ = try await bench.send(.ops, "GET /livez")
            let reply = try await bench.send(.ops, "GET /metrics")
            #expect(reply.headers[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
            #expect(String(decoding: reply.body, as: UTF8.self).contains(#"method="GET",route="/livez""#))
            return reply
        },
    ]
}
