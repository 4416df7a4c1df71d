import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories

/// Identity cards in a fixture, behind proven phone numbers.
struct CardBench {
    let phones: PhoneBench
    let askIssuer: AskIssuer?
    var admin: Administration { fixture.admin }

    var fixture: ServiceFixture { phones.fixture }

    init(_ fixture: ServiceFixture, askIssuer: AskIssuer? = nil) throws {
        phones = try PhoneBench(fixture, rateLimiting: .off)
        self.askIssuer = askIssuer
    }

    /// A user who has proved a number.
    func withPhone(
        _ name: String, _ number: String, on connection: ClientConnection? = nil
    ) async throws -> PhoneBench.Person {
        let person = try await phones.person(name, on: connection)
        try await prove(number, person)
        return person
    }

    func prove(_ number: String, _ person: PhoneBench.Person) async throws {
        let id = try await phones.begin(number, person).id
        guard try await phones.verdict(id, phones.code(id, number, person), person) == .right else {
            throw Refusal(.verificationFailed, "The right code was refused.")
        }
    }

    /// The standard's example, with another name and number for each who shows one.
    static func specimen(
        _ number: String = "T64225789", family: String = "SAMPLE", given: String = "MICHAEL"
    ) throws -> CardSpecimen {
        guard var specimen = CardSpecimen("VA") else { throw Refusal(.notFound, "There is no Virginia.") }
        specimen.number = number
        specimen.family = family
        specimen.given = given
        return specimen
    }

    @discardableResult
    func show(_ specimen: CardSpecimen, _ person: PhoneBench.Person) async throws -> Service.EvaluatedCard {
        try await submit(.aamva(Data(specimen.bytes).base64EncodedString()), person)
    }

    func submit(_ input: Service.CardInput, _ person: PhoneBench.Person) async throws -> Service.EvaluatedCard {
        try await fixture.context.submitCard(input, for: person.session, askIssuer: askIssuer)
    }

    func assurance(_ person: PhoneBench.Person) async throws -> Assurance {
        try await fixture.context.readProfile(person.session).user.assurance
    }

    /// Every column of every row of the store that holds bytes, by its table.
    func sealedValues() async throws -> [(table: String, bytes: [UInt8])] {
        let tables = try await fixture.store.tables().map(\.name)
        return try await fixture.store.read { transaction in
            try tables.flatMap { table in
                try transaction.query("SELECT * FROM \(table)").flatMap(\.values).compactMap { value in
                    if case .bytes(let bytes) = value { (table, bytes) } else { nil }
                }
            }
        }
    }
}
