import Domain
import Fixtures
import Foundation
import Operations
import Testing

@testable import API

/// Introspection by both ways, in turns, over one store and one clock.
@Suite("Introspection on the fast path and by the routes", .timeLimit(.minutes(10)))
struct IntrospectionFastPathTests {
    @Test("gives the same answers, lines of the log and counts to thousands of requests, good and bad")
    func same() async throws {
        try await ServiceFixture.run(FastPathEqualityTests.policy) { fixture in
            let ways = [true, false].map { AnswerWay(fixture, usesFastPath: $0, on: .public) }
            let world = try await IntrospectionWorld(fixture, seed: 22)
            var wires: [[Bool: Wire]] = [[:], [:]]
            var differences: [String] = []
            let count = Soak.count(900, soak: 3000)
            for index in 0..<count where differences.count < 5 {
                let (request, isHTTP2) = (try await world.next(), index.isMultiple(of: 3))
                var answers: [[UInt8]] = [[], []]
                for way in index.isMultiple(of: 2) ? [0, 1] : [1, 0] {
                    if wires[way][isHTTP2]?.isOpen != true {
                        wires[way][isHTTP2] = try await ways[way].open(nil, isHTTP2: isHTTP2)
                    }
                    answers[way] = try await wires[way][isHTTP2]?.exchange(request) ?? []
                }
                if let difference = FastPathEqualityTests.difference(answers[0], answers[1]) {
                    differences.append("\(request) over HTTP/\(isHTTP2 ? 2 : 1): \(difference)")
                }
                if String(decoding: answers[0], as: UTF8.self).lowercased().contains("connection: close") {
                    for way in [0, 1] { await wires[way].removeValue(forKey: isHTTP2)?.close() }
                }
            }
            #expect(differences.isEmpty)
            #expect(ways[0].lines == ways[1].lines && ways[0].lines.count >= count)
            #expect(ways[0].counts == ways[1].counts)
            #expect(ways[0].fastAnswers >= count / 3 && ways[1].fastAnswers == 0, "\(ways[0].fastAnswers)")
            #expect(world.happened.count >= Soak.count(8, soak: 10), "\(world.happened)")
        }
    }

    @Test("answers in order, however its requests are cut into pieces", arguments: [7, 113, 100_000])
    func pieces(_ piece: Int) async throws {
        try await ServiceFixture.run(FastPathEqualityTests.policy) { fixture in
            let connection = try await fixture.connectNewDevice()
            let token = try #require(try await fixture.opened("alice", on: connection).token).text.reveal()
            let bearer = try fixture.signer.providerToken(
                provider: fixture.registration.provider.id, kid: fixture.registration.keyID,
                realm: ServiceFixture.realm, now: fixture.clock.now)
            let forms = ["token=\(token)", "token=\(token)x", "token=\(token)&token_type_hint=access_token"]
            let requests = (0..<30).map { index in
                let body = forms[index % forms.count]
                return WireRequest(
                    method: "POST", target: "/introspect",
                    fields: [
                        ("Authorization", "Bearer \(bearer)"), ("Content-Type", "application/x-www-form-urlencoded"),
                        ("Content-Length", String(body.utf8.count)),
                    ], body: body
                ).bytes
            }
            // The first one comes alone and whole where it is to be answered on the fast path: what comes while the
            // routes work goes by them.
            let first = piece > 100 ? requests[0] : []
            let all = requests.flatMap(\.self)
            var answers: [[UInt8]] = []
            for usesFastPath in [false, true] {
                let way = AnswerWay(fixture, usesFastPath: usesFastPath, on: .public)
                let wire = try await way.open(nil, isHTTP2: false)
                if !first.isEmpty { try await wire.write(first) }
                for start in stride(from: first.count, to: all.count, by: piece) {
                    try await wire.write(Array(all[start..<min(start + piece, all.count)]))
                }
                answers.append(try await wire.answers(30))
                // Where the end of a head and its content come apart, the request is for the routes.
                #expect((way.fastAnswers > 0) == (usesFastPath && piece > 100))
                await wire.close()
            }
            #expect(FastPathEqualityTests.difference(answers[0], answers[1]) == nil)
        }
    }
}
