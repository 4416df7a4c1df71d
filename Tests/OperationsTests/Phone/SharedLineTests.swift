import Database
import Domain
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

/// Two spellings of one line in Argentina: with the 9 of calls to mobiles, and without it.
@Suite("Two spellings of one line")
struct SharedLineTests {
    private static let spellings = ["+5491123456789", "+541123456789"]

    private static var policy: Policy {
        var policy = Policy()
        policy.phones.countries = ["AR"]
        return policy
    }

    private static func prove(
        _ number: String, _ person: PhoneBench.Person, _ bench: PhoneBench
    ) async throws -> Service.CheckedPhoneVerification {
        let started = try await bench.begin(number, person)
        return try await bench.context.checkPhoneVerification(
            started.id.description, code: bench.code(started.id, number, person), for: person.session)
    }

    @Test("have one owner: who proves the second spelling takes the line over")
    func owner() async throws {
        try await ServiceFixture.run(Self.policy) { fixture in
            let bench = try PhoneBench(fixture)
            let (ann, bob) = (try await bench.person("ann"), try await bench.person("bob"))
            #expect(try await Self.prove(Self.spellings[0], ann, bench).assurance == .phone)
            #expect(try await Self.prove(Self.spellings[1], bob, bench).assurance == .phone)
            let rows = try await fixture.store.read { transaction in
                let records = AuthenticatedUserRepository(transaction, keys: bench.keys)
                return (
                    try records.find(ann.session.userID)?.suspended,
                    try records.holders(ofNumber: bench.keys.phoneIndexes(Self.spellings[0]))
                )
            }
            #expect(rows.0 == .phoneReassigned)
            #expect(rows.1 == [bob.session.userID])
        }
    }

    @Test("are one number in limits, and one open verification")
    func limits() async throws {
        try await ServiceFixture.run(Self.policy) { fixture in
            let bench = try PhoneBench(fixture)
            let ann = try await bench.person("ann")
            let first = try await bench.begin(Self.spellings[0], ann)
            #expect(try await bench.begin(Self.spellings[1], ann).id == first.id)
            for turn in 0..<2 {
                fixture.clock.advance(301)
                try await bench.begin(Self.spellings[turn % 2], ann)
            }
            fixture.clock.advance(301)
            for spelling in Self.spellings {
                await #expect(throws: Refusal(.rateLimited, "")) { try await bench.begin(spelling, ann) }
            }
        }
    }

    @Test("are banned together, and found together")
    func bans() async throws {
        try await ServiceFixture.run(Self.policy) { fixture in
            let bench = try PhoneBench(fixture)
            let ann = try await bench.person("ann")
            _ = try await Self.prove(Self.spellings[0], ann, bench)
            let index = bench.keys.versionedPhoneIndexes(Self.spellings[0]).map(\.index)
            #expect(index == bench.keys.versionedPhoneIndexes(Self.spellings[1]).map(\.index))
            let bans = try BanBench(fixture)
            try await bans.ban(bans.phone(Self.spellings[1]))
            let bob = try await bench.person("bob")
            let outcome = try await Self.prove(Self.spellings[0], bob, bench)
            #expect(outcome.verdict == .right && outcome.isBanned)
        }
    }
}
