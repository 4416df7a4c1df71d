import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Operations

/// The lists of the console, by their cost.
@Suite("A list for an administrator")
struct ListBudgetTests {
    private static let lists: [(name: String, read: @Sendable (Administration) async throws -> Void)] = [
        ("cards in review", { _ = try await $0.listCardsInReview(limit: 51) }),
        ("outbox", { _ = try await $0.listOutbox(nil, limit: 51) }),
        ("dead messages", { _ = try await $0.listOutbox(.dead, limit: 51) }),
        ("providers", { _ = try await $0.listProviders(limit: 51, after: nil) }),
        ("nodes", { _ = try await $0.listNodes() }),
        ("audit log", { _ = try await $0.browseAudit(ReadAudit.Filter(), count: 50) }),
        (
            "audit log by actor",
            { admin in
                let filter = try ReadAudit.Filter(wholeSubject: nil, event: nil, actor: "admin test", since: nil)
                _ = try await admin.browseAudit(filter, count: 50)
            }
        ),
    ]

    @Test("costs at most three statements, with that for the role", arguments: StoreKind.shared)
    func statements(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let one = try await fixture.admin.addAdministrator("lena", role: .security)
            let counter = StatementCounter(fixture.store)
            let keys = fixture.personalKeys
            let admin = Administration(
                store: counter, environment: fixture.admin.environment, actor: "admin lena", administrator: one
            ) { keys }
            for list in Self.lists {
                _ = counter.take()
                try await list.read(admin)
                let counts = counter.take()
                #expect((1...3).contains(counts.statements + counts.reads), "\(list.name): \(counts)")
            }
        }
    }

    @Test(
        "or three and the audit entry for a card in review, however many cards there are", arguments: StoreKind.shared)
    func card(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let bench = try CardBench(fixture)
            try await bench.show(try .virginia, try await bench.withPhone("alice", "+14155552671"))
            var cards: [IdentityCardID] = []
            for number in 2...6 {
                let person = try await bench.withPhone("user \(number)", "+1415555267\(number)")
                cards.append(try await bench.show(try .virginia, person).id)
                cards.append(try await bench.show(try CardBench.specimen(family: "OTHER"), person).id)
            }
            let one = try await fixture.admin.addAdministrator("lena", role: .reviewer)
            let counter = StatementCounter(fixture.store)
            let keys = fixture.personalKeys
            let admin = Administration(
                store: counter, environment: fixture.admin.environment, actor: "admin lena", administrator: one
            ) { keys }
            _ = counter.take()
            let shown = try await admin.readCardInReview(try #require(cards.first))
            let counts = counter.take()
            #expect(shown.others.count == 5 && shown.summary.earlier.map(\.id) == Array(cards.dropFirst().prefix(1)))
            #expect((1...4).contains(counts.statements + counts.reads), "\(counts)")
        }
    }
}
