import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories

/// Users who look for each other, behind proven phone numbers.
struct AddressBench {
    let cards: CardBench
    let context: Service

    var fixture: ServiceFixture { cards.fixture }

    init(_ fixture: ServiceFixture, store: (any Database)? = nil, rateLimiting: RateLimiting = .off) throws {
        cards = try CardBench(fixture)
        context = fixture.context(rateLimiting: rateLimiting, store: store)
    }

    func person(_ name: String, _ number: String) async throws -> PhoneBench.Person {
        try await cards.withPhone(name, number)
    }

    /// Who is found; `nil` for nobody.
    func find(_ address: String, by person: PhoneBench.Person) async throws -> UserID? {
        do {
            return try await context.resolveAddress(try SoughtAddress(address), for: person.session)
        } catch let refusal as Refusal where refusal.code == .notFound {
            return nil
        }
    }
}
