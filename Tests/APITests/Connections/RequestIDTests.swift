import Domain
import Fixtures
import Foundation
import HTTPTypes
import Operations
import Testing

@testable import API

@Suite("The id of a request", .timeLimit(.minutes(10)))
struct RequestIDTests {
    private static func ids() -> RequestIDs { RequestIDs(of: Environment().newUUID()) }

    @Test("is a UUID of the cell, the same bits for a connection and a count after them")
    func form() throws {
        let ids = RequestIDs(of: try #require(UUID(uuidString: "01234567-89ab-8cde-b210-fedcba987654")))
        #expect(ids.next() == "01234567-89ab-8cde-b210-000000000001")
        #expect(ids.next() == "01234567-89ab-8cde-b210-000000000002")
        for _ in 0..<1000 {
            let id = Self.ids().next()
            let parsed = try #require(UUID(uuidString: id))
            #expect(Cell(of: parsed) == .ofTests && id == id.lowercased())
        }
    }

    @Test("is another one each time, on however many threads it is taken, and on each connection")
    func unique() async {
        let ids = Self.ids()
        let taken = await withTaskGroup(of: [String].self) { group in
            for _ in 0..<8 { group.addTask { (0..<1000).map { _ in ids.next() } } }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(taken).count == 8000 && Set(taken.map { $0.prefix(24) }).count == 1)
        #expect(Set((0..<1000).map { _ in Self.ids().next().prefix(24) }).count == 1000)
    }

    @Test("is the service's own, in the answer and in the log, whatever the client sends")
    func own() async throws {
        try await RouterBench.run { bench in
            for sent in ["7b1f2a9e-0000-4000-8000-000000000000", "x", "a\tb", String(repeating: "f", count: 4000)] {
                let before = bench.log.requestIDs.count
                let reply = try await bench.send(.ops, "GET /livez", headers: [.sentID: sent])
                let id = try #require(reply.headers[.sentID])
                #expect(id != sent && UUID(uuidString: id) != nil)
                #expect(Array(bench.log.requestIDs.dropFirst(before)) == [id])
                #expect(!bench.log.lines.contains { $0.contains(sent) && sent.count > 1 })
            }
        }
    }

    @Test("stands in every answer of a connection, one ahead of the routes too, and counts", arguments: [false, true])
    func everyAnswer(usesFastPath: Bool) async throws {
        try await ServiceFixture.run(FastPathEqualityTests.policy) { fixture in
            let connection = try await fixture.connectNewDevice()
            let way = AnswerWay(fixture, usesFastPath: usesFastPath)
            let wire = try await way.open(connection, isHTTP2: false)
            var ids: [String] = []
            for request in [
                WireRequest(method: "POST", target: "/nonces"), WireRequest(target: "/nowhere"),
                WireRequest(method: "POST", target: "/nonces", fields: [("X-Request-ID", "mine")]),
                WireRequest(target: "/sessions/current"), WireRequest(fields: [("Host", "twice")]),
            ] {
                let answer = String(decoding: try await wire.exchange(request), as: UTF8.self)
                let found = answer.matches(of: /\r\nX-Request-ID: ([0-9a-f-]{36})\r\n/)
                #expect(found.count == 1, "\(answer)")
                ids += found.map { String($0.output.1) }
                #expect(!answer.contains("request_id") || answer.contains("\"request_id\":\"\(ids.last ?? "")\""))
            }
            #expect(ids.map { Int($0.suffix(12), radix: 16) } == [1, 2, 3, 4, 5] && ids == way.log.requestIDs)
            await wire.close()
        }
    }
}

extension HTTPField.Name {
    fileprivate static let sentID = known("X-Request-ID")
}
