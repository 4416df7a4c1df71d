import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories

/// Users who look for each other, behind proven phone numbers.
struct AddressBench {
    let cards: CardBench
    let share: ShareAddress
    let resolve: ResolveAddress

    var fixture: ServiceFixture { cards.fixture }

    init(_ fixture: ServiceFixture, store: (any Database)? = nil, rateLimiting: RateLimiting = .off) throws {
        cards = try CardBench(fixture)
        let context = fixture.context(rateLimiting: rateLimiting, store: store)
        share = ShareAddress(context)
        resolve = ResolveAddress(context)
    }

    func person(_ name: String, _ number: String) async throws -> PhoneBench.Person {
        try await cards.withPhone(name, number)
    }

    /// Who is found; `nil` for nobody.
    func find(_ address: String, by person: PhoneBench.Person) async throws -> UserID? {
        do {
            return try await resolve(try SoughtAddress(address), for: person.session)
        } catch let refusal as Refusal where refusal.code == .notFound {
            return nil
        }
    }
}
