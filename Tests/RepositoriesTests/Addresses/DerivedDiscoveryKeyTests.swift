import Crypto
import Domain
import Encoding
import Foundation
import Synchronization
import Testing

@testable import Repositories

@Suite("The derived keys of contact discovery")
struct DerivedDiscoveryKeyTests {
    private static let week = DiscoveryWeek(2900)
    private static let provider = ProviderID(UUID())

    /// Derives keys, and counts how often.
    private final class Deriver: Sendable {
        private let calls = Mutex(0)
        var count: Int { calls.withLock { $0 } }

        func key(_ source: DerivedDiscoveryKeys.Source) throws -> DerivedDiscoveryKeys.Derived {
            calls.withLock { $0 += 1 }
            let key = try ObliviousKey(derivedFrom: .of("\(source.week) \(source.seed)"))
            return .init(key: key, publicKey: try key.publicKey, padding: SymmetricKey(size: .bits256))
        }
    }

    private static func source(_ week: DiscoveryWeek = week, seed: UInt8 = 1) -> DerivedDiscoveryKeys.Source {
        .init(provider: provider, week: week.number, seed: [seed], version: 1)
    }

    @Test("are derived once for all calls of a week, and never found for another seed")
    func once() throws {
        let (keys, deriver) = (DerivedDiscoveryKeys(), Deriver())
        func find(_ seed: UInt8) throws -> [UInt8] {
            let source = Self.source(seed: seed)
            return try keys.find(source, at: Self.week.start) { try deriver.key(source) }.publicKey
        }
        let first = try find(1)
        for _ in 0..<10 { #expect(try find(1) == first) }
        #expect(deriver.count == 1)
        #expect(try find(2) != first && find(2) != first)
        #expect(deriver.count == 2 && keys.count == 2)
    }

    @Test("are forgotten when their week is no longer answered, also where a clock is set back")
    func weeks() throws {
        let (keys, deriver) = (DerivedDiscoveryKeys(), Deriver())
        let next = DiscoveryWeek(Self.week.number + 1)
        func find(_ week: DiscoveryWeek, at now: Date) throws {
            let source = Self.source(week)
            _ = try keys.find(source, at: now) { try deriver.key(source) }
        }
        try find(Self.week, at: Self.week.start)
        try find(next, at: next.start)
        // For a day behind its end a week is answered.
        try find(Self.week, at: next.start.addingTimeInterval(DiscoveryWeek.margin - 1))
        #expect(keys.count == 2 && deriver.count == 2)
        try find(next, at: next.start.addingTimeInterval(DiscoveryWeek.margin))
        #expect(keys.count == 1 && deriver.count == 2)
        // A key of a week that is over is derived for whoever asks, and not kept.
        try find(Self.week, at: next.end)
        #expect(keys.count == 1 && deriver.count == 3)
        try find(Self.week, at: Self.week.start)
        try find(Self.week, at: Self.week.start)
        #expect(keys.count == 2 && deriver.count == 4)
    }

    @Test("are bounded in number, whatever the number of providers")
    func bounded() throws {
        let (keys, deriver) = (DerivedDiscoveryKeys(capacity: 4), Deriver())
        for seed in 0..<20 as Range<UInt8> {
            let source = Self.source(seed: seed)
            _ = try keys.find(source, at: Self.week.start) { try deriver.key(source) }
            #expect((1...4).contains(keys.count))
        }
    }

    @Test("are the same for all who ask at the same moment")
    func together() async throws {
        let (keys, deriver) = (DerivedDiscoveryKeys(), Deriver())
        let found = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<16 {
                group.addTask {
                    let source = Self.source()
                    return try keys.find(source, at: Self.week.start) { try deriver.key(source) }.publicKey
                }
            }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(found.count == 1 && keys.count == 1)
    }
}
