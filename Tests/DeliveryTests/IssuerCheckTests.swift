import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Delivery

@Suite("The question to a card's issuer")
struct IssuerCheckTests {
    private func facts() throws -> CardFacts {
        try #require(
            CardFacts(
                jsonText: """
                    {"source":"aamva","kind":"licence","given_name":"Michael","family_name":"Sample",
                    "date_of_birth":"1986-06-06","street":"2300 West Broad Street","postal_code":"23269",
                    "document_number":"T64235789","last_four":"5789","jurisdiction":"VA","country":"USA","expires_on":"2032-12-10"}
                    """))
    }

    private func check(_ path: String, timeout: TimeInterval = 5) async throws -> IssuerCheck {
        let station = try await Stations.webhook.value
        var policy = CardPolicy()
        policy.issuerCheckURL = station.url() + path
        policy.issuerCheckTimeout = timeout
        let secret = try #require(station.texts("secrets").first)
        return try #require(
            try IssuerCheck(policy, secret: { _ in secret }, http: Stations.http, now: { Date() }))
    }

    @Test("is signed as standardwebhooks verifies, and holds what is asked about")
    func question() async throws {
        #expect(try await check("/issuer/confirmed")(facts(), id: UUID()) == .confirmed)
        let station = try await Stations.webhook.value
        let seen = try #require(try await station.seen().last { $0.contains("issuer/confirmed") })
        let event = try StrictJSON.parse(seen.utf8)["event"]
        #expect(event?["type"]?.text == "card.check")
        #expect(event?["data"]?["document_number"]?.text == "T64235789")
        #expect(event?["data"]?["date_of_birth"]?.text == "1986-06-06")
    }

    @Test(
        "is answered by match indicators, and by nothing else",
        arguments: [
            ("/issuer/contradicted", IssuerConfirmation.contradicted(["date_of_birth"])),
            ("/issuer/partial", .unanswered), ("/issuer/nonsense", .unanswered), ("/500", .unanswered),
            ("/204", .unanswered), ("/large", .unanswered), ("/redirect", .unanswered),
        ])
    func answers(path: String, verdict: IssuerConfirmation) async throws {
        #expect(try await check(path)(facts(), id: UUID()) == verdict)
    }

    @Test("is not waited for beyond the deadline")
    func late() async throws {
        #expect(try await check("/hang", timeout: 0.3)(facts(), id: UUID()) == .unanswered)
        #expect(try await check("/drip", timeout: 0.3)(facts(), id: UUID()) == .unanswered)
    }

    @Test("is not asked in the clear, nor without a secret, nor where policy names nobody")
    func configuration() throws {
        var policy = CardPolicy()
        #expect(try IssuerCheck(policy, secret: { _ in "" }, http: Stations.http, now: { Date() }) == nil)
        policy.issuerCheckURL = "http://issuer.example/check"
        #expect(throws: DeliveryError.self) {
            try IssuerCheck(policy, secret: { _ in "" }, http: Stations.http, now: { Date() })
        }
        policy.issuerCheckURL = "https://issuer.example/check"
        #expect(throws: DeliveryError.self) {
            try IssuerCheck(policy, secret: { _ in "whsec_short" }, http: Stations.http, now: { Date() })
        }
    }
}
