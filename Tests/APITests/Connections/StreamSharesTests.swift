import Domain
import Fixtures
import Logging
import Testing

@testable import API

@Suite("The streams of a network")
struct StreamSharesTests {
    @Test("are limited by address, by /56 and by /48, and given back to each")
    func networks() {
        let shares = StreamShares(NetworkLimits(perAddress: 2, per56: 3, per48: 4))
        func taken(_ addresses: [String]) -> Int { addresses.count { shares.take(at: $0) } }
        func network(_ number: String) -> String { "32.1.13.184.0.1.\(number)/64" }
        #expect(taken([String](repeating: "192.0.2.1", count: 5)) == 2)
        #expect(taken([String](repeating: network("0.0"), count: 5)) == 2)
        #expect(taken((1...5).map { network("0.\($0)") }) == 1, "the rest of the /56")
        #expect(taken((1...5).map { network("\($0).0") }) == 1, "the rest of the /48")
        shares.give(at: network("0.0"))
        #expect(taken([network("9.0"), network("9.0")]) == 1)
        for address in [network("0.0"), network("0.1"), network("1.0"), network("9.0")] { shares.give(at: address) }
        for _ in 0..<2 { shares.give(at: "192.0.2.1") }
        #expect(shares.count == 0)
    }

    @Test("are refused on all its connections together, beyond four on each, until one ends")
    func connections() async throws {
        try await RouterBench.run { bench in
            let way = AnswerWay(bench.fixture, usesFastPath: true, on: .public, accounts: .roomy)
            let connections = ListenerConnections(
                name: "public",
                limits: .init(
                    total: 10, networks: NetworkLimits(perAddress: 3, per56: 3, per48: 3), perCertificate: 10),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let request = WireRequest(target: "/.well-known/ssf-configuration")
            func ends(_ wire: Wire, _ streams: some Collection<UInt32>) async throws -> [UInt8?] {
                let answers = try await wire.answers(on: Array(streams))
                return streams.map { answers[$0]?.dropFirst(3).first }
            }
            let wire = try await way.open(nil, isHTTP2: true, takesBodies: false, in: connections)
            let streams = try await wire.send([WireRequest](repeating: request, count: 10))
            // RST_STREAM with REFUSED_STREAM, and nothing before it.
            let refused = try await wire.answers(on: Array(streams.suffix(3)))
            #expect(refused.values.allSatisfy { $0.dropFirst(3).first == 3 && $0.last == 7 }, "\(refused)")
            let other = try await way.open(nil, isHTTP2: true, takesBodies: false, in: connections)
            let others = try await other.send([WireRequest](repeating: request, count: 5))
            #expect(try await ends(other, others.suffix(1)) == [3])
            try await wire.takeBody(streams[0])
            _ = try await wire.answer(on: streams[0])
            let next = try await other.send([request])
            try await other.takeBody(next[0])
            #expect(try await ends(other, next) == [1], "HEADERS")
            await wire.close()
            await other.close()
            try await until("shares are left over") { connections.shares.count == 0 }
        }
    }
}
