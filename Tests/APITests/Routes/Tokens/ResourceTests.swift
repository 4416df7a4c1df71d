import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Operations
import Testing
import Tokens

@testable import API

@Suite("A URL of a provider's backend, at the exchange of a session's token")
struct ResourceTests {
    private static func asked(
        _ person: SignedIn, audience: String = "", resource: String = ""
    ) async throws -> Reply {
        try await person.bench.askToken(
            [
                "grant_type": RouterBench.exchange, "subject_token": person.token,
                "subject_token_type": RouterBench.accessToken, "audience": audience, "resource": resource,
            ], on: person.connection)
    }

    private static func audience(_ reply: Reply) throws -> String? {
        try UnverifiedToken(try #require(reply.text("access_token")), refusing: .malformedRequest).payload["aud"]?.text
    }

    @Test("names the provider as audience or resource in each of its forms, and becomes the token's audience")
    func named() async throws {
        try await RouterBench.run { bench in
            let person = try await bench.signIn()
            let id = person.session.providerID.description
            let url = try #require(ResourceURL("https://api.example"))
            #expect(try await Self.asked(person, resource: url.text).text("error") == "invalid_target")
            try await bench.fixture.admin.addResource(url, to: "test")
            for one in ["https://api.example", "https://API.example/", "https://api.example:443"] {
                #expect(try Self.audience(try await Self.asked(person, audience: one)) == url.text)
                #expect(try Self.audience(try await Self.asked(person, resource: one)) == url.text)
                #expect(try Self.audience(try await Self.asked(person, audience: id, resource: one)) == url.text)
            }
            #expect(try Self.audience(try await Self.asked(person, audience: id)) == id)
            try await bench.fixture.admin.removeResource(url)
            #expect(try await Self.asked(person, resource: url.text).text("error") == "invalid_target")
        }
    }

    @Test("may be named beside others of the same provider, and with one of another there is no token")
    func several() async throws {
        try await RouterBench.run { bench in
            let person = try await bench.signIn()
            for path in ["a", "b"] {
                try await bench.fixture.admin.addResource(
                    try #require(ResourceURL("https://api.example/\(path)")), to: "test")
            }
            func ask(_ targets: String) async throws -> Reply {
                let form =
                    "grant_type=\(RouterBench.exchange)&subject_token=\(person.token)"
                    + "&subject_token_type=\(RouterBench.accessToken)&\(targets)"
                return try await bench.send(
                    .client, "POST /token", headers: [.contentType: RouterBench.form],
                    body: RequestBody(buffer: ByteBuffer(string: form)), on: person.connection)
            }
            let both = "resource=https://api.example/a&resource=https://api.example/b"
            #expect(try Self.audience(try await ask(both)) == "https://api.example/b")
            #expect(try await ask(both + "&resource=https://other.example").text("error") == "invalid_target")
            #expect(try await ask(both + "&scope=x&scope=x").text("error") == "invalid_request")
        }
    }

    @Test("of another provider, of nobody, or of another path gets no token, whatever is named beside it")
    func foreign() async throws {
        try await RouterBench.run { bench in
            let person = try await bench.signIn()
            let id = person.session.providerID.description
            let other = try await bench.fixture.admin.addProvider(
                name: "Other", slug: nil, account: nil, avatarHosts: [], key: try ProviderSigner(.es256).verificationKey
            )
            let (own, foreign) = (
                try #require(ResourceURL("https://api.example/a")), try #require(ResourceURL("https://api.example/b"))
            )
            try await bench.fixture.admin.addResource(own, to: "test")
            try await bench.fixture.admin.addResource(foreign, to: "other")
            await #expect(throws: Refusal(.conflict, "")) {
                try await bench.fixture.admin.addResource(own, to: "other")
            }
            for wrong in [
                foreign.text, other.provider.id.description, "https://api.example/", "https://api.example/a/",
                "http://api.example/a", "https://api.example/a?b", "https://api.example/a#b", "urn:a", "test",
                "https://user@api.example/a",
            ] {
                for reply in [
                    try await Self.asked(person, audience: wrong), try await Self.asked(person, resource: wrong),
                    try await Self.asked(person, audience: id, resource: wrong),
                    try await Self.asked(person, audience: wrong, resource: own.text),
                ] {
                    #expect(reply.status == 400 && reply.text("error") == "invalid_target", "\(wrong)")
                    reply.judge()
                }
            }
            let none = try await Self.asked(person)
            #expect(none.status == 400 && none.text("error") == "invalid_request")
        }
    }

    @Test("is none of the service's own, nor below one, also if one was registered before")
    func own() async throws {
        try await RouterBench.run { bench in
            let person = try await bench.signIn()
            let base = ["https://public.example", "https://client.example/"]
            for text in ["https://public.example", "https://PUBLIC.example:443/token", "https://client.example/a/b"] {
                let url = try #require(ResourceURL(text))
                await #expect(throws: Refusal(.malformedRequest, "")) {
                    try await bench.fixture.admin.addResource(url, to: "test", own: base)
                }
            }
            for text in ["https://public.example.org/", "https://public.example:8443/", "https://b.public.example/"] {
                let url = try #require(ResourceURL(text))
                try await bench.fixture.admin.addResource(url, to: "test", own: base)
            }
            // The service knows where it is, a command perhaps not.
            let url = try #require(ResourceURL("https://public.example/api"))
            try await bench.fixture.admin.addResource(url, to: "test")
            #expect(try await Self.asked(person, resource: url.text).text("error") == "invalid_target")
        }
    }
}
