import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Operations
import Testing

@testable import API

@Suite("The routes of wallets on the same device")
struct WalletRouteTests {
    @Test("answer, and refuse by each code of theirs", arguments: cases)
    func answers(_ one: RouteCase) async throws { try await one.run() }

    private static let path = "/identity-cards/presentations"
    private static let (requests, responses) = ("/wallet/requests/{request}", "/wallet/responses/{request}")

    private static func begin(
        _ bench: RouterBench, _ wanted: Presentation.Wanted = .over18
    ) async throws -> RedirectedPresentation {
        try await bench.addOrigin()
        return try await RedirectedPresentation(wanted, try await bench.signIn())
    }

    private static func one(
        _ route: String, _ status: Int, _ code: Refusal.Code? = nil, reason: String? = nil,
        _ call: @escaping @Sendable (RouterBench) async throws -> Reply
    ) -> RouteCase {
        RouteCase(route, status, code, reason: reason, policy: RouterBench.wallets, call)
    }

    static let cases: [RouteCase] = [
        one("POST \(path)", 201) { bench in
            try await bench.addOrigin()
            let reply = try await bench.signIn().send("POST \(path)", json: RouterBench.redirect(.over18))
            #expect(reply.text("url")?.hasPrefix("openid4vp://?client_id=x509_hash%3A") == true)
            #expect(reply["requests"] == nil)
            return reply
        },
        one("POST \(path)", 400, .malformedRequest) { bench in
            try await bench.signIn().send("POST \(path)", json: RouterBench.redirect(.over18))
        },
        one("POST \(path)", 400, .malformedRequest) { bench in
            try await bench.addOrigin()
            return try await bench.signIn().send(
                "POST \(path)",
                json: #"{"channel":"same_device","want":"age_over_18","origin":"\#(StandInWallet.origin)"}"#)
        },
        one("POST \(path)/{id}", 201) { bench in
            let begun = try await begin(bench)
            let reply = try await begun.redeem(begun.code(.over18))
            #expect(reply["age_over_18"] == .bool(true))
            return reply
        },
        one("POST \(path)/{id}", 404, .notFound) { bench in try await begin(bench).redeem("x") },
        one("POST \(path)/{id}", 400, .malformedRequest) { bench in
            let begun = try await begin(bench)
            return try await begun.person.send(
                "POST \(path)/\(begun.id)", json: #"{"response_code":"x","protocol":"org-iso-mdoc"}"#)
        },
        one("GET \(path)/{id}", 200) { bench in
            let begun = try await begin(bench)
            _ = try await begun.code(.over18)
            let reply = try await begun.person.send("GET \(path)/\(begun.id)")
            #expect(reply.text("state") == "received")
            return reply
        },
        one("GET \(requests)", 200) { bench in
            let reply = try await bench.open("GET \(begin(bench).requestPath)?client=wallet")
            #expect(reply.headers[.contentType] == "application/oauth-authz-req+jwt")
            #expect(reply.headers[.cacheControl] == "no-store")
            return reply
        },
        one("GET \(requests)", 404, .notFound) { bench in try await bench.open("GET /wallet/requests/x") },
        one("POST \(requests)", 200) { bench in
            let begun = try await begin(bench)
            let reply = try await bench.wallet(
                "POST \(begun.requestPath)", form: "wallet_nonce=n-1&wallet_metadata=%7B%7D")
            let parts = String(decoding: reply.body, as: UTF8.self).split(separator: ".").map(String.init)
            let payload = try StrictJSON.parse(Base64URL.decode(parts.dropFirst().first ?? "") ?? [])
            #expect(payload["wallet_nonce"]?.text == "n-1" && payload["state"]?.text == begun.request)
            return reply
        },
        one("POST \(requests)", 404, .notFound) { bench in
            try await bench.wallet("POST /wallet/requests/x", form: "wallet_nonce=n-1")
        },
        one("POST \(responses)", 200) { bench in
            let begun = try await begin(bench)
            let reply = try await begun.post(begun.answer(.over18))
            // No other member, and no redirect of HTTP.
            let link = try #require(reply.text("redirect_uri"))
            #expect(link.hasPrefix("\(StandInWallet.returnAddress)#response_code="))
            #expect(try StrictJSON.parse(reply.body) == .object(["redirect_uri": .string(link)]))
            #expect(reply.headers[.location] == nil)
            return reply
        },
        one("POST \(responses)", 200) { bench in
            let begun = try await begin(bench)
            let reply = try await bench.wallet("POST \(begun.responsePath)", form: "error=access_denied&state=x")
            #expect(reply.body == Array("{}".utf8))
            // The request is still open.
            #expect(try await begun.redeem(begun.code(.over18)).status == 201)
            return reply
        },
        one("POST \(responses)", 400, .presentationRejected, reason: "incomplete") { bench in
            let begun = try await begin(bench)
            let reply = try await begun.post(begun.answer(.identity))
            #expect(reply.text("error") == "invalid_request")
            #expect(try await begun.person.send("GET \(path)/\(begun.id)").text("reason") == "incomplete")
            return reply
        },
        one("POST \(responses)", 400, .malformedRequest) { bench in
            try await bench.wallet("POST \(begin(bench).responsePath)", form: "state=x")
        },
        one("POST \(responses)", 404, .notFound) { bench in
            try await bench.wallet("POST /wallet/responses/x", form: "response=x")
        },
        one("POST \(responses)", 409, .conflict) { bench in
            let begun = try await begin(bench)
            let other = try await begun.answer(.over18)
            _ = try await begun.code(.over18)
            return try await begun.post(other)
        },
        RouteCase("GET \(requests)", 404, .notFound) { bench in try await bench.open("GET /wallet/requests/x") },
    ]
}
