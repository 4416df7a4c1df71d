import Domain
import Fixtures
import Foundation
import NIOCore
import Operations
import Testing

@testable import API

/// The same requests down both ways, in turns, over one store, one clock and one source of bytes.
@Suite("The fast path and the routes", .timeLimit(.minutes(10)))
struct FastPathEqualityTests {
    static var policy: Policy {
        var policy = Policy()
        policy.certification.perHourPerSender.perAddress = 1_000_000
        policy.certification.perHourPerSender.per56 = 1_000_000
        policy.certification.perHourPerSender.per48 = 1_000_000
        policy.certification.openPerHour = 1_000_000
        // The routes alone count.
        policy.requests.readsPerMinute = 1_000_000
        policy.requests.writesPerMinute = 1_000_000
        return policy
    }

    /// Where two answers differ; `nil` where they are the same, byte for byte.
    static func difference(_ one: [UInt8], _ other: [UInt8]) -> String? {
        guard one != other else { return nil }
        let place = zip(one, other).prefix { $0 == $1 }.count
        func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self).debugDescription }
        return "differ at byte \(place): \(text(one)) and \(text(other))"
    }

    /// Both ends of one person's connections.
    private final class Ends {
        var wires: [Bool: Wire] = [:]

        func drop() async {
            for wire in wires.values { await wire.close() }
            wires = [:]
        }
    }

    @Test("give the same answers, lines of the log and counts to thousands of requests, good and bad")
    func same() async throws {
        let bytes = RewoundBytes(seed: 20)
        try await ServiceFixture.run(Self.policy, randomBytes: bytes.next) { fixture in
            let ways = [AnswerWay(fixture, usesFastPath: true), AnswerWay(fixture, usesFastPath: false)]
            let world = try await AskedWorld(fixture, seed: 21)
            var ends = world.people.map { _ in ways.map { _ in Ends() } }
            var differences: [String] = []
            let count = Soak.count(1_400, soak: 10_000)
            for index in 0..<count where differences.count < 5 {
                let asked = try await world.next()
                for person in world.renewed {
                    for end in ends[person] { await end.drop() }
                    ends[person] = ways.map { _ in Ends() }
                }
                let connection = world.people[asked.person].connection
                var answers: [[UInt8]] = [[], []]
                let place = bytes.place
                var last = place
                // In turns, so that neither always finds what the other has done.
                for way in index.isMultiple(of: 2) ? [0, 1] : [1, 0] {
                    bytes.place = place
                    let end = ends[asked.person][way]
                    if end.wires[asked.isHTTP2]?.isOpen != true {
                        end.wires[asked.isHTTP2] = try await ways[way].open(connection, isHTTP2: asked.isHTTP2)
                    }
                    answers[way] = try await end.wires[asked.isHTTP2]?.exchange(asked.request) ?? []
                    // Only the first one writes what both would: ids are not to come again.
                    if bytes.place.count > last.count { last = bytes.place }
                }
                bytes.place = last
                if let difference = Self.difference(answers[0], answers[1]) {
                    differences.append("\(asked.request) over HTTP/\(asked.isHTTP2 ? 2 : 1): \(difference)")
                }
                if Self.isLast(answers[0]) { for end in ends[asked.person] { await end.drop() } }
            }
            #expect(differences.isEmpty)
            #expect(ways[0].lines == ways[1].lines && ways[0].lines.count >= count)
            #expect(ways[0].counts == ways[1].counts)
            #expect(ways[0].log.requestIDs == ways[1].log.requestIDs && ways[0].log.requestIDs.count >= count)
            #expect(ways[0].fastAnswers >= count / 2 && ways[1].fastAnswers == 0, "\(ways[0].fastAnswers)")
            #expect(world.happened.count >= Soak.count(8, soak: 11), "\(world.happened)")
        }
    }

    /// Whether an answer is the last on its connection, in either version.
    private static func isLast(_ answer: [UInt8]) -> Bool {
        let text = String(decoding: answer, as: UTF8.self).lowercased()
        return text.contains("connection: close") || text.contains("certificate_revoked")
    }

    @Test("are seen to differ where one byte of an answer does, whichever it is")
    func planted() async throws {
        try await ServiceFixture.run(Self.policy) { fixture in
            let way = AnswerWay(fixture, usesFastPath: true)
            let connection = try await fixture.connectNewDevice()
            for isHTTP2 in [false, true] {
                let wire = try await way.open(connection, isHTTP2: isHTTP2)
                let answer = try await wire.exchange(WireRequest(method: "POST", target: "/nonces"))
                #expect(answer.count > 100 && Self.difference(answer, answer) == nil)
                for index in answer.indices {
                    var changed = answer
                    changed[index] ^= 1
                    #expect(Self.difference(answer, changed) != nil)
                }
                #expect(Self.difference(answer, answer.dropLast()) != nil)
                await wire.close()
            }
            #expect(way.fastAnswers == 2)
        }
    }
}
