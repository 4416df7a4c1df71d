import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("Addresses by which users are found")
struct AddressTests {
    private static let (annsNumber, bobsNumber) = ("+14155552671", "+14155552672")

    @Test("are hidden until their user shares them, and again when the user hides them")
    func sharing() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try AddressBench(fixture)
            let ann = try await bench.person("ann", Self.annsNumber)
            let bob = try await bench.person("bob", Self.bobsNumber)
            for (type, address) in [("phone", Self.annsNumber), ("name", "test/ann")] {
                #expect(try await bench.find(address, by: bob) == nil, "\(type)")
                for _ in 0..<2 { try await bench.context.shareAddress(type, for: ann.session) }
                #expect(try await bench.find(address, by: bob) == ann.session.userID, "\(type)")
                if type == "phone" {
                    #expect(try await bench.find("TEL:\(address)", by: bob) == ann.session.userID)
                }
                #expect(try await bench.context.listAddresses(for: ann.session).map { $0.type.rawValue } == [type])
                for _ in 0..<2 { try await bench.context.hideAddress(type, for: ann.session) }
                #expect(try await bench.find(address, by: bob) == nil, "\(type)")
            }
            try await bench.context.shareAddress("name", for: ann.session)
            #expect(try await bench.find("other/ann", by: bob) == nil)
            await #expect(throws: Refusal(.notFound, "")) {
                try await bench.context.shareAddress("email", for: ann.session)
            }
        }
    }

    private static func code(of text: String) -> Refusal.Code? {
        do throws(Refusal) {
            _ = try SoughtAddress(text)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("need a proof, and the searcher a level")
    func proofs() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try AddressBench(fixture)
            let ann = try await bench.cards.phones.person("ann")
            await #expect(throws: Refusal(.conflict, "")) {
                try await bench.context.shareAddress("phone", for: ann.session)
            }
            await #expect(throws: Refusal(.notVerified, "", reason: .caller)) {
                try await bench.find("test/ann", by: ann)
            }
            for text in ["ann", "+1", "14155552671", "test/", ""] {
                #expect(Self.code(of: text) == .malformedRequest, "\(text)")
            }
        }
    }

    @Test("are lost with the proof: to another user, for another number, by a ban and by an erasure")
    func endings() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try AddressBench(fixture)
            let bob = try await bench.person("bob", Self.bobsNumber)
            func shared(_ name: String, _ number: String) async throws -> PhoneBench.Person {
                let person = try await bench.person(name, number)
                for type in AddressType.allCases {
                    try await bench.context.shareAddress(type.rawValue, for: person.session)
                }
                #expect(try await bench.find(number, by: bob) == person.session.userID)
                return person
            }
            let ann = try await shared("ann", Self.annsNumber)
            try await bench.cards.prove(Self.annsNumber, ann)
            #expect(try await bench.find(Self.annsNumber, by: bob) == ann.session.userID)
            try await bench.cards.prove("+14155552673", ann)
            #expect(try await bench.find("+14155552673", by: bob) == nil)
            try await bench.context.shareAddress("phone", for: ann.session)

            let carol = try await bench.person("carol", "+14155552673")
            #expect(try await bench.find("+14155552673", by: bob) == nil)
            // The number comes back to its first holder, who is not found by it for that.
            try await bench.cards.prove("+14155552673", ann)
            #expect(try await bench.find("+14155552673", by: bob) == nil)
            #expect(try await bench.find("test/ann", by: bob) == ann.session.userID)

            let dora = try await shared("dora", "+14155552674")
            try await BanBench(fixture).ban(.user("test/dora"), .messaging)
            #expect(try await bench.find("+14155552674", by: bob) == nil)
            #expect(try await bench.find("test/dora", by: bob) == nil)
            await #expect(throws: Refusal(.userBanned, "", banReason: BanBench.spam)) {
                try await bench.context.shareAddress("phone", for: dora.session)
            }
            let eric = try await shared("eric", "+14155552675")
            let export = try await bench.cards.fixture.context.exportPersonalData(for: eric.session)
            #expect(export.json["findable_addresses"] == .array([.string("name"), .string("phone")]))
            _ = try await bench.cards.fixture.context.erasePersonalData(for: eric.session)
            _ = try await bench.person("eric", "+14155552675")
            #expect(try await bench.find("+14155552675", by: bob) == nil)
            #expect(try await bench.find("test/eric", by: bob) == nil)
            #expect(carol.session.userID != ann.session.userID)
        }
    }

    @Test("give the same answer after as many statements, whether they are hidden or unknown")
    func alike() async throws {
        try await ServiceFixture.run { fixture in
            let counter = StatementCounter(fixture.store)
            let bench = try AddressBench(fixture, store: counter, rateLimiting: .on)
            let bob = try await bench.person("bob", Self.bobsNumber)
            for (name, number) in [("ann", Self.annsNumber), ("carol", "+14155552673"), ("dora", "+14155552674")] {
                let person = try await bench.person(name, number)
                guard name != "ann" else { continue }
                for type in AddressType.allCases {
                    try await bench.context.shareAddress(type.rawValue, for: person.session)
                }
                if name == "carol" {
                    try await fixture.context.blockUser(bob.session.userID.description, for: person.session)
                } else {
                    try await BanBench(fixture).ban(.user("test/dora"), .messaging)
                    // As if it had been shared at the moment of the ban.
                    try await fixture.store.write { transaction in
                        for type in AddressType.allCases {
                            try FindableAddressRepository(transaction).insert(
                                type, of: person.session.userID, at: transaction.now)
                        }
                    }
                }
            }
            func cost(_ address: String) async throws -> StatementCounter.Counts {
                // Both rows of the limits are there.
                _ = try await bench.find("test/nobody", by: bob)
                _ = counter.take()
                var sentence = ""
                do {
                    _ = try await bench.context.resolveAddress(try SoughtAddress(address), for: bob.session)
                } catch let refusal
                    as Refusal
                {
                    sentence = refusal.description
                }
                #expect(sentence == "\(Refusal.unknownAddress)", "\(address)")
                return counter.take()
            }
            let numbers = ["+14155550000", Self.annsNumber, "+14155552673", "+14155552674"]
            let names = ["test/nobody", "test/ann", "test/carol", "test/dora", "other/ann", "other/carol"]
            for addresses in [numbers, names] {
                let unknown = try await cost(addresses[0])
                #expect(unknown.statements > 5)
                for address in addresses { #expect(try await cost(address) == unknown, "\(address)") }
            }
        }
    }

    @Test("are looked up so often in an hour, by one user and by one device")
    func limits() async throws {
        var policy = Policy()
        policy.addresses.resolvesPerHour = 2
        policy.addresses.changesPerHour = 1
        try await ServiceFixture.run(policy) { fixture in
            let bench = try AddressBench(fixture, rateLimiting: .on)
            let ann = try await bench.person("ann", Self.annsNumber)
            for _ in 0..<2 { #expect(try await bench.find("test/nobody", by: ann) == nil) }
            let limited = Refusal(.rateLimited, "")
            await #expect(throws: limited) { try await bench.find("test/nobody", by: ann) }
            // Another user at the same device, and the same user at another device, search no faster.
            let bob = try await bench.cards.withPhone("bob", Self.bobsNumber, on: ann.connection)
            await #expect(throws: limited) { try await bench.find("test/nobody", by: bob) }
            let elsewhere = try await bench.cards.phones.person("ann")
            await #expect(throws: limited) { try await bench.find("test/nobody", by: elsewhere) }
            try await bench.context.shareAddress("name", for: ann.session)
            await #expect(throws: limited) { try await bench.context.shareAddress("phone", for: ann.session) }
            try await bench.context.hideAddress("name", for: ann.session)
            #expect(try await bench.context.listAddresses(for: ann.session).isEmpty)
        }
    }
}
