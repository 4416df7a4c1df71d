import Domain
import Encoding
import Testing

@testable import API

@Suite("The connections of a listener")
struct ConnectionCensusTests {
    private typealias Census = ConnectionCensus<Int>
    private static let second: UInt64 = 1_000_000_000

    private func census(
        total: Int = 100, perAddress: Int = 3, per56: Int = 100, per48: Int = 100, perCertificate: Int = 2
    ) -> Census {
        Census(
            limits: .init(
                total: total, networks: NetworkLimits(perAddress: perAddress, per56: per56, per48: per48),
                perCertificate: perCertificate))
    }

    @Test("of one address: the one that is idle for longest gives way to a new one")
    func address() {
        var census = census()
        let activities: [Int: Census.Activity] = [1: .busy, 2: .idle(since: 7), 3: .idle(since: 5)]
        for id in 1...3 {
            #expect(
                census.insert(id, from: "a", now: 9, activity: { activities[$0] ?? .busy }) == .taken(inPlaceOf: nil))
        }
        #expect(census.insert(4, from: "a", now: 9, activity: { activities[$0] ?? .busy }) == .taken(inPlaceOf: 3))
        #expect(census.insert(5, from: "b", now: 9, activity: { activities[$0] ?? .busy }) == .taken(inPlaceOf: nil))
    }

    @Test("that give way count no more while they close")
    func closing() {
        var census = census()
        for id in 1...3 { _ = census.insert(id, from: "a", now: 9) { _ in .busy } }
        #expect(census.insert(4, from: "a", now: 9) { $0 == 1 ? .idle(since: 1) : .busy } == .taken(inPlaceOf: 1))
        census.remove(2)
        #expect(census.insert(5, from: "a", now: 9) { _ in .idle(since: 1) } == .taken(inPlaceOf: nil))
        #expect(census.insert(6, from: "a", now: 9) { _ in .busy } == .refused)
    }

    @Test("that close for others are not chosen again while their peers take their time, nor counted")
    func chosenOnce() {
        var census = census(total: 2)
        for id in 1...3 { _ = census.insert(id, from: "a", now: 9) { _ in .busy } }
        func activity(_ id: Int) -> Census.Activity { .idle(since: UInt64(id)) }
        #expect(census.makeRoom(now: 9, activity: activity) == 1)
        #expect(census.count == 2)
        #expect(census.makeRoom(now: 9, activity: activity) == 2)
        #expect(census.makeRoom(now: 9, activity: activity) == 3)
        #expect(census.makeRoom(now: 9, activity: activity) == nil)
        census.remove(1)
        #expect(census.count == 0)
    }

    @Test("that could not close for others after all are counted again, by address as well")
    func kept() {
        var census = census(perAddress: 2)
        for id in 1...2 { _ = census.insert(id, from: "a", now: 9) { _ in .busy } }
        #expect(census.makeRoom(now: 9) { $0 == 1 ? .idle(since: 1) : .busy } == 1)
        census.keep(1)
        census.keep(2)
        #expect(census.count == 2)
        #expect(census.insert(3, from: "a", now: 9) { _ in .busy } == .refused)
    }

    @Test("of one address are refused where all are at work, and counted again when one has ended")
    func addressAtWork() {
        var census = census()
        for id in 1...3 { _ = census.insert(id, from: "a", now: 9) { _ in .busy } }
        #expect(census.insert(4, from: "a", now: 9) { _ in .busy } == .refused)
        census.remove(4)
        census.remove(2)
        #expect(census.count == 2)
        #expect(census.insert(5, from: "a", now: 9) { _ in .busy } == .taken(inPlaceOf: nil))
    }

    @Test("of one /56 or /48 count together: who is idle for longest in the network that is full gives way")
    func networks() {
        var census = census(per56: 4, per48: 6)
        func activity(_ id: Int) -> Census.Activity { .idle(since: UInt64(100 - id)) }
        for id in 1...4 {
            let address = "32.1.13.184.0.1.2.\(id)/64"
            #expect(census.insert(id, from: address, now: 200, activity: activity) == .taken(inPlaceOf: nil))
        }
        let neighbour = census.insert(5, from: "32.1.13.184.0.1.2.77/64", now: 200, activity: activity)
        #expect(neighbour == .taken(inPlaceOf: 4))
        // Who gave way is in none of the networks any more.
        for id in 6...7 {
            let address = "32.1.13.184.0.1.\(id).0/64"
            #expect(census.insert(id, from: address, now: 200, activity: activity) == .taken(inPlaceOf: nil))
        }
        #expect(census.insert(8, from: "32.1.13.184.0.1.8.0/64", now: 200, activity: activity) == .taken(inPlaceOf: 7))
        #expect(census.insert(9, from: "32.1.13.184.0.1.9.0/64", now: 200) { _ in .busy } == .refused)
        #expect(census.insert(10, from: "32.1.13.184.0.2.9.0/64", now: 200) { _ in .busy } == .taken(inPlaceOf: nil))
        #expect(census.insert(11, from: "192.0.2.1", now: 200) { _ in .busy } == .taken(inPlaceOf: nil))
    }

    @Test("whose peers keep the service waiting for two seconds give way like idle ones, and no sooner")
    func waiting() {
        var census = census(perAddress: 2)
        let now = 100 * Self.second
        var activities: [Int: Census.Activity] = [
            1: .waiting(since: now - 2 * Self.second + 1), 2: .busy, 3: .waiting(since: now - 3 * Self.second),
        ]
        for id in 1...2 { _ = census.insert(id, from: "a", now: now) { activities[$0] ?? .busy } }
        #expect(census.insert(4, from: "a", now: now) { activities[$0] ?? .busy } == .refused)
        // A look that found nobody is not repeated at once.
        activities[2] = .idle(since: 1)
        #expect(census.insert(4, from: "a", now: now + 1) { activities[$0] ?? .busy } == .refused)
        activities[2] = .busy
        let later = now + Self.second
        #expect(census.insert(4, from: "a", now: later) { activities[$0] ?? .busy } == .taken(inPlaceOf: 1))
        _ = census.insert(3, from: "b", now: now) { activities[$0] ?? .busy }
        #expect(census.makeRoom(now: now) { activities[$0] ?? .busy } == 3)
    }

    @Test("count for an address from when a proxy says it")
    func proxied() {
        var census = census(perAddress: 1)
        for id in 1...3 { #expect(census.insert(id, from: nil, now: 9) { _ in .busy } == .taken(inPlaceOf: nil)) }
        #expect(census.locate(1, at: "a", now: 9) { _ in .busy } == .taken(inPlaceOf: nil))
        #expect(census.locate(2, at: "a", now: 9) { _ in .busy } == .refused)
        #expect(census.locate(3, at: "b", now: 9) { _ in .busy } == .taken(inPlaceOf: nil))
        #expect(census.locate(4, at: "c", now: 9) { _ in .busy } == .refused, "an unknown one is not taken")
    }

    @Test("of one certificate: the same")
    func certificate() {
        var census = census()
        let (one, other) = (Digest256.of([1]), Digest256.of([2]))
        for id in 1...4 { _ = census.insert(id, from: nil, now: 9) { _ in .busy } }
        for id in 1...2 { #expect(census.bind(id, to: one, now: 9) { _ in .idle(since: 3) } != .refused) }
        #expect(census.bind(3, to: one, now: 9) { $0 == 2 ? .idle(since: 1) : .busy } == .taken(inPlaceOf: 2))
        #expect(census.bind(4, to: one, now: 9) { _ in .busy } == .refused)
        #expect(census.bind(4, to: other, now: 9) { _ in .busy } == .taken(inPlaceOf: nil))
    }

    @Test("make room in the order of their idleness, slow handshakes first, never one at work or one that is new")
    func room() {
        var census = census(perAddress: 1000)
        let now = 100 * Self.second
        var activities: [Int: Census.Activity] = [:]
        for id in 0..<200 {
            activities[id] = .idle(since: UInt64(id) * 1000 + 50 * Self.second)
            _ = census.insert(id, from: "a", now: now) { activities[$0] ?? .busy }
        }
        activities[7] = .handshaking(since: now - 3 * Self.second)
        activities[8] = .handshaking(since: now - Self.second)
        activities[0] = .busy
        var order: [Int] = []
        for _ in 0..<199 {
            guard let id = census.makeRoom(now: now, activity: { activities[$0] ?? .busy }) else { break }
            order.append(id)
            census.remove(id)
        }
        #expect(order == [7] + (1..<200).filter { $0 != 7 && $0 != 8 })
        #expect(census.makeRoom(now: now) { activities[$0] ?? .busy } == nil)
    }

    @Test("who went to work since it was chosen stays")
    func changed() {
        var census = census()
        var activities: [Int: Census.Activity] = [1: .idle(since: 1), 2: .idle(since: 2)]
        for id in 1...2 { _ = census.insert(id, from: "\(id)", now: 9) { activities[$0] ?? .busy } }
        #expect(census.makeRoom(now: 9) { activities[$0] ?? .busy } == 1)
        census.remove(1)
        activities[2] = .busy
        #expect(census.makeRoom(now: 9) { activities[$0] ?? .busy } == nil)
    }
}
