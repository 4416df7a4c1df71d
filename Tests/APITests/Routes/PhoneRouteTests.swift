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

@Suite("The routes of phone verifications")
struct PhoneRouteTests {
    @Test("answer, and refuse by each code of theirs", arguments: cases)
    func answers(_ one: RouteCase) async throws { try await one.run() }

    private static let number = "+14155552671"

    @Test("count what becomes of each text, and log what is thinned out")
    func thinned() async throws {
        try await RouterBench.run(
            RouterBench.policy { policy in
                policy.phones.breakerSends = 2
                policy.phones.breakerVerifiedPercent = 50
            }
        ) { bench in
            let trips = bench.counted(#"phone_breaker_trips_total{thinned="provider"}"#)
            let sent = bench.counted(#"phone_texts_total{decision="send"}"#)
            for index in 0..<3 {
                let person = try await bench.signIn("user \(index)")
                let reply = try await person.send(
                    "POST /phone-verifications", json: #"{"phone_number":"+1415\#(220 + index)2671"}"#,
                    from: "10.0.\(index).1")
                // The caller is told nothing of it.
                #expect(reply.status == 202)
            }
            // Nothing else in this process trips a breaker; texts are also sent by other tests.
            #expect(bench.counted(#"phone_breaker_trips_total{thinned="provider"}"#) == trips + 1)
            #expect(bench.counted(#"phone_texts_total{decision="provider_thinned"}"#) >= 1)
            #expect(bench.counted(#"phone_texts_total{decision="send"}"#) >= sent + 2)
            let name = "provider \(bench.fixture.registration.provider.id) US new"
            let lines = bench.log.lines.filter { $0.contains("texts are limited") }
            #expect(
                lines.count == 1 && lines[0].hasPrefix("warning ") && lines[0].contains("subject=\(name)"), "\(lines)")
        }
    }

    static let cases: [RouteCase] = [
        RouteCase("POST /phone-verifications", 202) { bench in
            let reply = try await bench.signIn().send(
                "POST /phone-verifications", json: #"{"phone_number":"\#(number)"}"#)
            #expect(reply.text("id") != nil && reply.text("resend_after") != nil && reply["digits"] == .integer(6))
            return reply
        },
        RouteCase("POST /phone-verifications", 400, .malformedRequest) { bench in
            try await bench.signIn().send("POST /phone-verifications", json: #"{"phone_number":"12"}"#)
        },
        RouteCase(
            "POST /phone-verifications", 422, .invalidPresenceProof, reason: "missing",
            policy: RouterBench.policy { $0.phones.presenceRequired = true }
        ) { bench in
            let reply = try await bench.signIn().send(
                "POST /phone-verifications", json: #"{"phone_number":"\#(number)"}"#)
            #expect(reply.text("nonce") != nil)
            return reply
        },
        RouteCase(
            "POST /phone-verifications", 409, .conflict, policy: RouterBench.policy { $0.phones.attestedOnly = true }
        ) { bench in
            let reply = try await bench.signIn().send(
                "POST /phone-verifications", json: #"{"phone_number":"\#(number)"}"#)
            #expect(reply.text("state") == "unattested")
            return reply
        },
        RouteCase(
            "POST /phone-verifications", 422, .invalidPresenceProof, reason: "captcha",
            policy: RouterBench.policy { $0.certification.captchaURL = "https://captcha.example/siteverify" }
        ) { bench in
            let person = try await bench.signIn()
            let solved = try await person.send(
                "POST /phone-verifications", json: #"{"phone_number":"+14155552672","captcha":"solved"}"#)
            #expect(solved.status == 202)
            return try await person.send(
                "POST /phone-verifications", json: #"{"phone_number":"\#(number)","captcha":"wrong"}"#)
        },
        RouteCase("POST /phone-verifications", 400, .malformedRequest) { bench in
            // Without an endpoint no captcha can be verified.
            try await bench.signIn().send(
                "POST /phone-verifications", json: #"{"phone_number":"\#(number)","captcha":"solved"}"#)
        },
        RouteCase("POST /phone-verifications", 400, .malformedRequest) { bench in
            try await bench.signIn().send(
                "POST /phone-verifications", json: #"{"phone_number":"\#(number)","locale":"de_DE"}"#)
        },
        RouteCase("POST /phone-verifications", 429, .rateLimited) { bench in
            let person = try await bench.signIn()
            for _ in 0..<3 {
                _ = try await bench.startPhone(number, person)
                // Until it has expired the same one is given again.
                bench.fixture.clock.advance(301)
            }
            return try await person.send("POST /phone-verifications", json: #"{"phone_number":"\#(number)"}"#)
        },
        RouteCase("POST /phone-verifications/{id}/check", 200) { bench in
            let person = try await bench.signIn()
            let reply = try await bench.prove(number, person)
            #expect(reply.text("assurance") == "phone" && reply.text("user_id") == person.session.userID.description)
            return reply
        },
        RouteCase("POST /phone-verifications/{id}/check", 422, .verificationFailed) { bench in
            let person = try await bench.signIn()
            let id = try await bench.startPhone(number, person)
            let wrong = try bench.code(id, number, person) == "000000" ? "000001" : "000000"
            return try await person.send("POST /phone-verifications/\(id)/check", json: #"{"code":"\#(wrong)"}"#)
        },
        RouteCase("POST /phone-verifications/{id}/check", 403, .userBanned) { bench in
            let banned = try await bench.signIn("banned")
            _ = try await bench.prove(number, banned)
            try await bench.ban(banned)
            let person = try await bench.signIn()
            let id = try await bench.startPhone(number, person)
            return try await person.send(
                "POST /phone-verifications/\(id)/check", json: #"{"code":"\#(try bench.code(id, number, person))"}"#)
        },
        RouteCase("POST /phone-verifications/{id}/resend", 202) { bench in
            let person = try await bench.signIn()
            let id = try await bench.startPhone(number, person)
            bench.fixture.clock.advance(30)
            let reply = try await person.send("POST /phone-verifications/\(id)/resend")
            #expect(reply.text("id") == id)
            return reply
        },
        RouteCase("POST /phone-verifications/{id}/resend", 404, .notFound) { bench in
            try await bench.signIn().send("POST /phone-verifications/\(UUID().uuidString.lowercased())/resend")
        },
        RouteCase("POST /phone-verifications/{id}/resend", 429, .rateLimited) { bench in
            let person = try await bench.signIn()
            let id = try await bench.startPhone(number, person)
            return try await person.send("POST /phone-verifications/\(id)/resend")
        },
        RouteCase("POST /phone-verifications/{id}/resend", 409, .conflict) { bench in
            let person = try await bench.signIn()
            let id = try await bench.startPhone(number, person)
            bench.fixture.clock.advance(301)
            let reply = try await person.send("POST /phone-verifications/\(id)/resend")
            #expect(reply.text("state") == "expired")
            return reply
        },
    ]
}
