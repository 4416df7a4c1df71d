import Crypto
import CryptoExtras
import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Operations
@testable import Repositories

@Suite("Private contact discovery")
struct ContactDiscoveryTests {
    private static let (annsNumber, bobsNumber) = ("+14155552671", "+14155552672")
    private static let week: TimeInterval = 7 * 86_400

    /// What a device does: it blinds, verifies, downloads and compares.
    private struct Device {
        let service: Service
        let session: Session

        /// The contacts that can be found, by number.
        func find(_ numbers: [String], in known: (week: DiscoveryWeek, publicKey: [UInt8], bits: Int)? = nil)
            async throws -> [String: UserID]
        {
            let week = if let known { known } else { try await service.discoveryWeek(for: session) }
            let key = try P384._VOPRF.PublicKey(compressedRepresentation: week.publicKey)
            let blinded = try numbers.map { try key.blind(Data($0.utf8)) }
            let evaluations = try await service.evaluateContacts(
                blinded.map { Array($0.blindedElement.oprfRepresentation) }, week: week.week.number, for: session)
            var found: [String: UserID] = [:]
            for (place, number) in numbers.enumerated() {
                let output = Array(
                    try key.finalize(
                        blinded[place],
                        using: P384._VOPRF.BlindEvaluation(rawRepresentation: evaluations[place])))
                let page = try await service.discoveryEntries(
                    week: week.week.number, bucket: Int(output[0]) >> (8 - week.bits), bits: week.bits, after: nil,
                    for: session)
                #expect(page.entries.count == DiscoveryBucket.minimum && page.next == nil)
                guard let entry = page.entries.first(where: { $0.tag == Array(output.prefix(16)) }) else { continue }
                let id = zip(entry.masked, output.suffix(16)).map { $0 ^ $1 }
                found[number] = UserID(id.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
            }
            return found
        }
    }

    private static func fill(_ fixture: ServiceFixture) async throws {
        let report = try await Housekeeping(fixture.context, also: [FillDiscoverySet(fixture.context).task]).runDue()
        #expect(report.failed.isEmpty)
    }

    private static func device(_ bench: AddressBench, _ person: PhoneBench.Person) -> Device {
        Device(service: bench.fixture.context(rateLimiting: .off), session: person.session)
    }

    @Test("finds who shares a number, once the set is filled, and nobody else")
    func finding() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try AddressBench(fixture)
            let ann = try await bench.person("ann", Self.annsNumber)
            let bob = try await bench.person("bob", Self.bobsNumber)
            let device = Self.device(bench, bob)
            let numbers = [Self.annsNumber, Self.bobsNumber, "+14155550000"]
            #expect(try await device.find(numbers).isEmpty)
            try await bench.context.shareAddress("phone", for: ann.session)
            try await bench.context.shareAddress("name", for: bob.session)
            try await Self.fill(fixture)
            #expect(try await device.find(numbers) == [Self.annsNumber: ann.session.userID])
            try await bench.context.hideAddress("phone", for: ann.session)
            #expect(try await device.find(numbers).isEmpty)
            try await bench.context.shareAddress("phone", for: ann.session)
            fixture.clock.advance(10)
            try await Self.fill(fixture)
            #expect(try await device.find(numbers).count == 1)
            // The number is another's now, who does not share it.
            _ = try await bench.person("carol", Self.annsNumber)
            #expect(try await device.find(numbers).isEmpty)
        }
    }

    @Test("has another key each week; the next set is there at its beginning, the last one for a day")
    func weeks() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try AddressBench(fixture)
            let ann = try await bench.person("ann", Self.annsNumber)
            try await bench.context.shareAddress("phone", for: ann.session)
            var bob = try await bench.person("bob", Self.bobsNumber)
            try await Self.fill(fixture)
            let first = try await Self.device(bench, bob).service.discoveryWeek(for: bob.session)
            // To the last hour of the week, when the next one's set is made.
            fixture.clock.advance(first.week.end.timeIntervalSince(fixture.clock.now) - 3600)
            try await Self.fill(fixture)
            fixture.clock.advance(3600)
            bob = try await bench.cards.phones.person("bob")
            let device = Self.device(bench, bob)
            let second = try await device.service.discoveryWeek(for: bob.session)
            #expect(second.week.number == first.week.number + 1 && second.publicKey != first.publicKey)
            for week in [first, second] {
                #expect(try await device.find([Self.annsNumber], in: week).count == 1, "\(week.week)")
            }
            fixture.clock.advance(86_400)
            bob = try await bench.cards.phones.person("bob")
            let later = Self.device(bench, bob)
            await #expect(throws: Refusal(.notFound, "")) { try await later.find([Self.annsNumber], in: first) }
            try await Self.fill(fixture)
            let left = try await fixture.store.read { transaction in
                try ["discovery_keys", "discovery_entries"].map {
                    try transaction.first("SELECT COUNT(*) FROM \($0)")?.integer(0)
                }
            }
            #expect(left == [1, 1])
            #expect(try await later.find([Self.annsNumber]).count == 1)
            // This process has forgotten the key with its week.
            #expect(fixture.context.node.discoveryKeys.count == 1)
        }
    }

    @Test("evaluates so many contacts for a number and a day, whoever's sessions ask, and counts before it does")
    func budget() async throws {
        var policy = Policy()
        policy.addresses.evaluationsPerDay = 64
        try await ServiceFixture.run(policy) { fixture in
            let bench = try AddressBench(fixture)
            let ann = try await bench.person("ann", Self.annsNumber)
            let service = fixture.context
            let week = try await service.discoveryWeek(for: ann.session)
            func evaluate(_ elements: [[UInt8]], _ session: Session) async throws -> Int {
                try await service.evaluateContacts(elements, week: week.week.number, for: session).count
            }
            let element = week.publicKey
            for count in [0, 65] {
                await #expect(throws: Refusal(.malformedRequest, "")) {
                    try await evaluate(Array(repeating: element, count: count), ann.session)
                }
            }
            #expect(try await evaluate([element, element], ann.session) == 2)
            await #expect(throws: Refusal(.malformedRequest, "")) {
                try await evaluate(Array(repeating: [1], count: 61), ann.session)
            }
            let elsewhere = try await bench.cards.phones.person("ann")
            #expect(try await evaluate([element], elsewhere.session) == 1)
            let refusal = await #expect(throws: Refusal(.rateLimited, "")) {
                try await evaluate([element], elsewhere.session)
            }
            #expect((1...86_400).contains(refusal?.retryAfter ?? 0))
            // The number's next holder finds the day used up.
            let bob = try await bench.person("bob", Self.annsNumber)
            await #expect(throws: Refusal(.rateLimited, "")) { try await evaluate([element], bob.session) }
            await #expect(throws: Refusal(.notVerified, "", reason: .caller)) {
                try await evaluate([element], ann.session)
            }
        }
    }

    @Test("hands out no bucket that is smaller than the week's, and no other provider's key")
    func buckets() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try AddressBench(fixture)
            let ann = try await bench.person("ann", Self.annsNumber)
            let service = fixture.context
            let week = try await service.discoveryWeek(for: ann.session).week
            for (bucket, bits) in [(0, 1), (1, 0), (-1, 0), (0, 8)] {
                await #expect(throws: Refusal(.notFound, "")) {
                    try await service.discoveryEntries(
                        week: week.number, bucket: bucket, bits: bits, after: nil, for: ann.session
                    ).entries.count
                }
            }
            try await fixture.store.write { [keys = fixture.personalKeys] in
                try DiscoveryKeyRepository($0, keys: keys, derived: DerivedDiscoveryKeys()).count(
                    entries: 8192, in: week, of: fixture.registration.provider.id)
            }
            let halves = try await [0, 1].asyncMap { number in
                try await service.discoveryEntries(
                    week: week.number, bucket: number, bits: 1, after: nil, for: ann.session)
            }
            #expect(halves.allSatisfy { $0.entries.count == DiscoveryBucket.minimum })
            #expect(
                halves[0].entries.allSatisfy { $0.tag[0] < 128 } && halves[1].entries.allSatisfy { $0.tag[0] >= 128 })
            await #expect(throws: Refusal(.notFound, "")) {
                try await service.discoveryEntries(
                    week: week.number, bucket: 0, bits: 0, after: [1], for: ann.session
                ).entries.count
            }
        }
    }
}

extension Array {
    fileprivate func asyncMap<T>(_ body: (Element) async throws -> T) async rethrows -> [T] {
        var results: [T] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}
