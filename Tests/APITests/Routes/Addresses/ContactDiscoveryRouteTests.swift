import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

@testable import API

@Suite("The routes of contact discovery")
struct ContactDiscoveryRouteTests {
    @Test("answer, and refuse by each code of theirs", arguments: cases)
    func answers(_ one: RouteCase) async throws { try await one.run() }

    /// A user who may ask, and the week's document.
    private static func asking(_ bench: RouterBench) async throws -> (person: SignedIn, week: Int64, key: String) {
        let person = try await bench.signIn("ann")
        #expect(try await bench.prove("+14155552671", person).status == 200)
        let document = try await person.send("GET /contact-discovery")
        guard case .integer(let week) = document["week"], let key = document.text("public_key") else {
            throw Refusal(.notFound, "\(document)")
        }
        return (person, week, key)
    }

    private static func evaluate(_ elements: [String], _ week: Int64, _ person: SignedIn) async throws -> Reply {
        let list = elements.map { "\"\($0)\"" }.joined(separator: ",")
        return try await person.send(
            "POST /contact-discovery/evaluations", json: #"{"week":\#(week),"blinded":[\#(list)]}"#)
    }

    private static let (evaluations, entries) = (
        "POST /contact-discovery/evaluations", "GET /contact-discovery/entries"
    )

    static let cases: [RouteCase] = [
        RouteCase("GET /contact-discovery", 200) { bench in
            let person = try await asking(bench).person
            let reply = try await person.send("GET /contact-discovery")
            #expect(reply.text("suite") == "P384-SHA384" && reply["bits"] == .integer(0))
            #expect(reply.text("public_key").flatMap { Base64URL.decode($0) }?.count == 49)
            #expect(reply["evaluations_per_day"] == .integer(2000))
            return reply
        },
        RouteCase("GET /contact-discovery", 403, .notVerified, reason: "caller") { bench in
            try await bench.signIn().send("GET /contact-discovery")
        },
        RouteCase(evaluations, 200) { bench in
            let (person, week, key) = try await asking(bench)
            let reply = try await evaluate([key, key], week, person)
            guard case .array(let made) = reply["evaluations"] else { return reply }
            #expect(made.compactMap { $0.text.flatMap { Base64URL.decode($0) }?.count } == [145, 145])
            return reply
        },
        RouteCase(evaluations, 400, .malformedRequest) { bench in
            let (person, week, key) = try await asking(bench)
            #expect(try await evaluate([], week, person).status == 400)
            #expect(try await evaluate(["="], week, person).status == 400)
            #expect(try await evaluate(Array(repeating: key, count: 65), week, person).status == 400)
            return try await evaluate([key, "AAAA"], week, person)
        },
        RouteCase(evaluations, 404, .notFound) { bench in
            let (person, week, key) = try await asking(bench)
            #expect(try await evaluate([key], week + 1, person).status == 404)
            return try await evaluate([key], week - 1, person)
        },
        RouteCase(
            evaluations, 409, .conflict, policy: RouterBench.policy { $0.addresses.requiredLevel = .none }
        ) { bench in
            let person = try await bench.signIn()
            let document = try await person.send("GET /contact-discovery")
            guard case .integer(let week) = document["week"] else { return document }
            return try await evaluate([document.text("public_key") ?? ""], week, person)
        },
        RouteCase(
            evaluations, 429, .rateLimited, policy: RouterBench.policy { $0.addresses.evaluationsPerDay = 1 }
        ) { bench in
            let (person, week, key) = try await asking(bench)
            #expect(try await evaluate([key], week, person).status == 200)
            return try await evaluate([key], week, person)
        },
        RouteCase(entries, 200) { bench in
            let (person, week, _) = try await asking(bench)
            let reply = try await person.send("\(entries)?week=\(week)&bucket=0&bits=0")
            let bytes = reply.text("entries").flatMap { Base64URL.decode($0) }
            #expect(bytes?.count == 4096 * 32 && reply["next"] == .null)
            return reply
        },
        RouteCase(entries, 400, .malformedRequest) { bench in
            let (person, week, _) = try await asking(bench)
            for query in ["", "?week=x&bucket=0&bits=0", "?week=1&bucket=-1&bits=0", "?week=1&bucket=0"] {
                #expect(try await person.send(entries + query).status == 400, "\(query)")
            }
            return try await person.send("\(entries)?week=\(week)&bucket=0&bits=0&after==")
        },
        RouteCase(entries, 404, .notFound) { bench in
            let (person, week, _) = try await asking(bench)
            return try await person.send("\(entries)?week=\(week)&bucket=0&bits=1")
        },
        RouteCase(
            entries, 429, .rateLimited, policy: RouterBench.policy { $0.addresses.downloadsPerHour = 1 }
        ) { bench in
            let (person, week, _) = try await asking(bench)
            #expect(try await person.send("\(entries)?week=\(week)&bucket=0&bits=0").status == 200)
            return try await person.send("\(entries)?week=\(week)&bucket=0&bits=0")
        },
    ]
}
