import Crypto
import Database
import Domain
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("Bans when keys are rotated")
struct RotatedBanTests {
    private static let number = "+14155552671"

    /// The keys of a fixture at a stage of the rotation.
    private struct Keys {
        let fixture: ServiceFixture
        let wrapping = SymmetricKey(size: .bits256)
        let index = SymmetricKey(size: .bits256)

        func keys(wrapping versions: ClosedRange<Int>, index indexes: ClosedRange<Int>) throws -> PersonalKeys {
            let (wrappings, blinds) = ([1: fixture.wrappingKey, 2: wrapping], [1: fixture.indexKey, 2: index])
            return try PersonalKeys(
                wrapping: wrappings.filter { versions.contains($0.key) },
                index: blinds.filter { indexes.contains($0.key) })
        }
    }

    @Test("hold on after both keys were replaced, with their notes, and no proof counts while one cannot be looked for")
    func rotation() async throws {
        try await ServiceFixture.run { fixture in
            let before = try BanBench(fixture, confirmation: .confirmed)
            let alice = try await before.phones.person("alice")
            try await before.prove(Self.number, alice)
            try await before.show(alice)
            let old = try await before.ban(.user("test/alice"), note: "first").ban
            let stages = Keys(fixture: fixture)
            // The rotation: both versions are there, then what lay under the old wrapping key goes over.
            let both = try stages.keys(wrapping: 1...2, index: 1...2)
            let rotation = RotateWrappingKey(fixture.admin, keys: both)
            try await rotation.putInForce()
            #expect(try await rotation.progress().remaining == 2)
            // The notes of bans among them, one at a time.
            #expect(try await rotation.rewrap(batch: 1) == (2, 0))
            #expect(try await rotation.takeLeave(of: [1, 2]) == [1])
            let during = try BanBench(
                try await fixture.moved(keys: try stages.keys(wrapping: 2...2, index: 1...2)), confirmation: .confirmed)
            try await expectHeld(during, "bob", number: Self.number, document: "T64225789")
            #expect(try await during.admin.readBan(old.id).note == "first")
            #expect(try await during.admin.banHistory(of: try during.phone(Self.number)).map(\.ban.id) == [old.id])
            await #expect(throws: Refusal(.userBanned, "", banReason: Ban.Reason(rawValue: "spam"))) {
                try await during.fixture.opened("alice", on: alice.connection)
            }
            // Bans of now, which lie under both versions of the index key.
            try await during.ban(try during.phone("+14155552672"), note: "second")
            try await during.ban(try BanTarget.document(reading: "VA:T64235780"))
            // The first version is taken away although the first ban is in force.
            let after = try BanBench(
                try await fixture.moved(keys: try stages.keys(wrapping: 2...2, index: 2...2)), confirmation: .confirmed)
            let carol = try await after.stranger("carol")
            await #expect(throws: Refusal(.unavailable, "")) { try await after.prove("+14155552673", carol) }
            await #expect(throws: Refusal(.userBanned, "", banReason: Ban.Reason(rawValue: "spam"))) {
                try await after.fixture.opened("alice", on: alice.connection)
            }
            // When it is lifted the version is needed no more.
            _ = try await after.admin.liftBan(old.id, note: "third")
            try await after.prove("+14155552673", carol).requireRight()
            try await expectHeld(after, "dora", number: "+14155552672", document: "T64235780")
            #expect(try await after.admin.readBan(old.id).liftNote == "third")
        }
    }

    private func expectHeld(_ bench: BanBench, _ name: String, number: String, document: String) async throws {
        let person = try await bench.stranger(name)
        #expect(try await bench.prove(number, person).isBanned)
        try await bench.prove("+1415555269\(name.count)", person).requireRight()
        await #expect(throws: Refusal(.userBanned, "")) { try await bench.show(person) { $0.number = document } }
    }
}
