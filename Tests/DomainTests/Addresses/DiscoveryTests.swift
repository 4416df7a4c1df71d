import Crypto
import Foundation
import Testing

@testable import Domain

@Suite("Contact discovery")
struct DiscoveryTests {
    private static func entry(_ first: UInt8, _ rest: UInt8) -> DiscoveryBucket.Entry {
        DiscoveryBucket.Entry(
            tag: [first] + [UInt8](repeating: rest, count: 15), masked: [UInt8](repeating: rest, count: 16))
    }

    @Test("names buckets by at most eight bits, and leaves 4096 entries in each")
    func bits() {
        #expect(DiscoveryBucket.bits(of: 0) == 0 && DiscoveryBucket.bits(of: 8191) == 0)
        #expect(DiscoveryBucket.bits(of: 8192) == 1 && DiscoveryBucket.bits(of: 1 << 20) == 8)
        #expect(DiscoveryBucket.bits(of: .max) == 8)
        for (number, bits) in [(1, 0), (-1, 3), (8, 3), (256, 8), (0, 9), (0, -1)] {
            #expect(DiscoveryBucket(number, bits: bits) == nil, "\(number) of \(bits)")
        }
    }

    @Test("puts each tag into one bucket", arguments: 0...8)
    func tags(bits: Int) throws {
        let buckets = try (0..<(1 << bits)).map { try #require(DiscoveryBucket($0, bits: bits)) }
        #expect(buckets.last?.tags.to == nil)
        for first in UInt8.min...UInt8.max {
            let tag = Self.entry(first, 7).tag
            let owners = buckets.filter { bucket in
                !tag.lexicographicallyPrecedes(bucket.tags.from)
                    && bucket.tags.to.map { tag.lexicographicallyPrecedes($0) } ?? true
            }
            #expect(owners.count == 1 && owners.first?.number == Int(first) >> (8 - bits))
        }
    }

    @Test("fills a bucket up with entries that are in it, and are the same the next time")
    func padding() throws {
        let (secret, other) = (SymmetricKey(size: .bits256), SymmetricKey(size: .bits256))
        let bucket = try #require(DiscoveryBucket(5, bits: 3))
        let real = [Self.entry(0b1010_0001, 9)]
        let full = try bucket.padded(real, secret: secret)
        #expect(full.count == DiscoveryBucket.minimum && full.contains(real[0]))
        #expect(full.allSatisfy { $0.tag.count == 16 && $0.masked.count == 16 && $0.tag[0] >> 5 == 5 })
        #expect(Set(full.map { $0.bytes }).count == full.count)
        #expect(Set(full.map { $0.tag[0] }).count == 32)
        #expect(try bucket.padded(real, secret: secret) == full)
        #expect(try bucket.padded(real, secret: other) != full)
        // One number more takes the place of one that was made up, and nothing else changes.
        let more = try bucket.padded(real + [Self.entry(0b1010_0010, 8)], secret: secret)
        let gone = Set(full.map { $0.bytes }).subtracting(more.map { $0.bytes })
        #expect(more.count == full.count && gone.count == 1)
        let many = (0..<5000).map { Self.entry(0b1010_0000, UInt8(truncatingIfNeeded: $0)) }
        #expect(try bucket.padded(many, secret: secret) == many)
    }

    @Test("shows a user id to whoever has the output alone")
    func masking() {
        let user = UserID(UUID())
        let output = (0..<48).map { UInt8($0) }
        let entry = DiscoveryBucket.Entry(output: output, user: user)
        let id = zip(entry.masked, output.suffix(16)).map { $0 ^ $1 }
        #expect(entry.tag == Array(output.prefix(16)))
        #expect(id == withUnsafeBytes(of: user.uuid.uuid) { Array($0) })
    }

    @Test("turns the key each week, a day of which is prepared and a day is left over")
    func weeks() {
        let week = DiscoveryWeek(2969)
        #expect(DiscoveryWeek(at: week.start) == week && DiscoveryWeek(at: week.end) == DiscoveryWeek(2970))
        #expect(DiscoveryWeek(at: week.start.addingTimeInterval(-1)) == DiscoveryWeek(2968))
        #expect(week.end.timeIntervalSince(week.start) == 7 * 86_400)
        let day: TimeInterval = 86_400
        #expect(DiscoveryWeek.newest(at: week.end.addingTimeInterval(-day - 1)) == week)
        #expect(DiscoveryWeek.newest(at: week.end.addingTimeInterval(-day)) == DiscoveryWeek(2970))
        #expect(DiscoveryWeek.oldest(at: week.end.addingTimeInterval(day - 1)) == week)
        #expect(DiscoveryWeek.oldest(at: week.end.addingTimeInterval(day)) == DiscoveryWeek(2970))
        #expect(DiscoveryWeek(at: Date(timeIntervalSince1970: .infinity)).number == .max)
    }
}
