import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Table forbidden_apps")
struct ForbiddenAppTableTests {
    @Test("A decision is kept once for each user and app, and concerns no other", arguments: StoreKind.shared)
    func decisions(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            let apps = (0..<2).map { index in
                Application(id: ApplicationID(UUID()), providerID: tables.provider, name: "App \(index)")
            }
            let (made, forbids) = try await tables.write { transaction in
                for app in apps { try ProviderRepository(transaction).insert(app, at: TestTables.now) }
                let records = ForbiddenAppRepository(transaction)
                let made = try [apps[0], apps[0], apps[1]].map {
                    try records.insert($0.id, of: tables.user, at: TestTables.now)
                }
                let gone = try (0..<2).map { _ in try records.delete(apps[1].id, of: tables.user) }
                return (
                    made + gone,
                    try [
                        records.forbids(apps[0].id, to: tables.user), records.forbids(apps[1].id, to: tables.user),
                        records.forbids(apps[0].id, to: eve),
                    ]
                )
            }
            #expect(made == [true, false, true, true, false])
            #expect(forbids == [true, false, false])
            // A restore reads all of them.
            let entries = try await tables.store.read { try ForbiddenAppRepository($0).all() }
            let again = try await tables.write { transaction in
                let records = ForbiddenAppRepository(transaction)
                try records.erase(tables.user)
                return try (0..<2).map { _ in try entries.map { try records.insert($0) } }
            }
            #expect(again == [[true], [false]])
            #expect(
                try await tables.read { try ForbiddenAppRepository($0).list(of: tables.user).map(\.app) } == [
                    apps[0].id
                ])
        }
    }
}
