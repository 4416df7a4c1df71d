import Domain
import Foundation
import Testing

@Suite("Readings of issuers")
struct IssuerReadingTests {
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)

    @Test(
        "A key set is fresh by its Cache-Control, between five minutes and an hour",
        arguments: [
            (nil, 300), ("", 300), ("max-age=600", 600), ("public, Max-Age = 1200, must-revalidate", 1200),
            ("max-age=0", 300), ("max-age=86400", 3600), ("max-age=99999999999999999999", 300), ("max-age=-1", 300),
            ("no-store", 300), ("max-age=900, no-cache", 300), ("s-maxage=900", 300), ("max-age=\"900\"", 300),
        ] as [(String?, TimeInterval)])
    func freshness(field: String?, seconds: TimeInterval) {
        #expect(IssuerReading.freshness(byCacheControl: field) == seconds)
    }

    @Test("It is read when it is fresh no more or a key is unknown, a minute after the last try, by any clock")
    func due() {
        let reading = IssuerReading(
            attemptedAt: Self.start, readAt: Self.start, freshUntil: Self.start.addingTimeInterval(300))
        for (seconds, knowsKey, isDue) in [
            (0.0, false, false), (59, false, false), (60, false, true), (60, true, false), (299, true, false),
            (300, true, true), (-1, true, true), (86_401, true, true),
        ] {
            #expect(
                reading.isDue(at: Self.start.addingTimeInterval(seconds), knowsKey: knowsKey) == isDue, "\(seconds)")
        }
        #expect(reading.mayServe(at: Self.start.addingTimeInterval(86_400)))
        #expect(!reading.mayServe(at: Self.start.addingTimeInterval(86_401)))
    }

    @Test("An issuer is an https URL of a public host without a query, and an audience a plain text")
    func typed() throws {
        func take(_ url: String, _ audience: String = "c", loopback: Bool = false) throws(Refusal) -> ProviderIssuer {
            try ProviderIssuer(
                typed: url, audiences: [audience], algorithms: ["RS256"], endsSessionsOfRemovedKeys: false,
                allowingLoopback: loopback)
        }
        #expect(try take("https://idp.example").host == "idp.example")
        #expect(try take("https://IDP.example/a/").url == "https://IDP.example/a/")
        #expect(try take("http://127.0.0.1:80/op", loopback: true).host == "127.0.0.1")
        for url in [
            "", "idp.example", "http://idp.example", "https://10.0.0.1", "https://localhost", "https://intranet",
            "https://idp.example?a=b", "https://idp.example?", "https://idp.example#a", "https://a@idp.example",
            "https://idp.example/.well-known/openid-configuration",
        ] {
            #expect(throws: Refusal(.malformedRequest, ""), "\(url)") { try take(url) }
        }
        for audience in ["", String(repeating: "a", count: 257), "a\u{7}"] {
            #expect(throws: Refusal(.malformedRequest, "")) { try take("https://idp.example", audience) }
        }
    }
    @Test("An issuer has different audiences and parties, in their order, and 16 of each at most")
    func clients() throws {
        func take(_ audiences: [String], _ parties: [String] = []) throws(Refusal) -> ProviderIssuer {
            try ProviderIssuer(
                typed: "https://idp.example", audiences: audiences, parties: parties, algorithms: ["RS256"],
                endsSessionsOfRemovedKeys: false, allowingLoopback: false)
        }
        let issuer = try take(["app", "web", "app"], ["android", "android"])
        #expect(issuer.audience == "app" && issuer.audiences == ["app", "web"] && issuer.parties == ["android"])
        let many = (0..<17).map { "client-\($0)" }
        #expect(try take(Array(many.dropLast())).audiences.count == 16)
        #expect(throws: Refusal(.malformedRequest, "")) { try take([]) }
        #expect(throws: Refusal(.malformedRequest, "")) { try take(many) }
        #expect(throws: Refusal(.malformedRequest, "")) { try take(["app"], many) }
        #expect(throws: Refusal(.malformedRequest, "")) { try take(["app"], ["a\u{7}"]) }
    }
}
