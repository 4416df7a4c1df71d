import Domain
import Fixtures
import Foundation
import Operations
import Testing

@testable import Console

/// A page costs as many statements with many rows as with few.
@Suite("The statements of a page")
struct PageStatementTests {
    /// A page with the most statements that it may need, besides the one that reads the administrator's role.
    private struct Budget {
        let path: String
        let most: Int
        var segments: [String] = []
        var values: [String: String] = [:]
    }

    private static func statements(
        _ budget: Budget, _ world: ConsoleWorld
    ) async throws -> (statements: Int, transactions: Int) {
        let counter = StatementCounter(world.fixture.store)
        let keys = world.fixture.personalKeys
        let administration = Administration(
            store: counter, environment: world.fixture.admin.environment, actor: "admin lena",
            administrator: world.administrator
        ) { keys }
        let usual = world.request(budget.segments, budget.values)
        let request = ConsoleRequest(
            segments: usual.segments, values: usual.values, administrator: usual.administrator,
            administration: administration, now: usual.now, operationID: nil, tokens: usual.tokens,
            newOperationID: usual.newOperationID, parts: usual.parts)
        let route = try #require(
            ConsoleWorld.routes.first { $0.kind == .page && $0.path.description == budget.path })
        _ = try await route.answer(request)
        let counts = counter.take()
        return (counts.statements + counts.reads, counter.takeReads())
    }

    @Test("are few, and do not grow with the rows")
    func budgets() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let connection = try await world.fixture.connectNewDevice()
            var session: Session?
            for number in 0..<20 {
                session = try await world.fixture.opened("user\(number)", on: connection).session
                let order = try BanOrder(
                    target: .user("test/user\(number)"), scope: .messaging,
                    reason: try #require(Ban.Reason(rawValue: "spam")), note: nil, endsAt: nil, withDevices: false)
                _ = try await world.fixture.admin.addBan(order, upTo: nil)
            }
            let (user, device) = (
                try #require(session).userID.description, try #require(session).deviceID.description
            )
            let budgets = [
                Budget(path: "/bans", most: 3), Budget(path: "/bans", most: 3, values: ["state": "all"]),
                Budget(path: "/devices/{}", most: 3, segments: [device]),
                Budget(path: "/search", most: 3, values: ["external_id": "user1"]),
                Budget(path: "/search", most: 3, values: ["user": user]),
                Budget(path: "/users/{}", most: 35, segments: [user]),
            ]
            for budget in budgets {
                let (statements, transactions) = try await Self.statements(budget, world)
                #expect(statements - transactions <= budget.most, "\(budget.path) \(budget.values)")
            }
        }
    }
}
