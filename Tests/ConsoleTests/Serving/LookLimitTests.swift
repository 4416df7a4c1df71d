import Domain
import Fixtures
import Foundation
import HTTPTypes
import Operations
import Testing

@testable import Console

@Suite("The limit of looks")
struct LookLimitTests {
    /// Values by which each form that takes a number finds its user.
    private static let values: [(String, String)] = [
        ("kind", "phone"), ("trait", "phone"), ("subject", "+14155552671"), ("value", "+14155552671"),
        ("reason", "spam"), ("scope", "all"), ("duration", "30d"), ("users", "0"),
    ]

    private static func looks(_ world: ConsoleWorld) async throws -> Int {
        try await ReadAudit(store: world.fixture.store).search(
            ReadAudit.Filter(event: "personal_data_read"), count: 500
        ).count
    }

    /// Sends the values to every action, and returns the paths that recorded a look.
    private static func paths(_ world: ConsoleWorld, _ console: ServedConsole) async throws -> [String] {
        var found: [String] = []
        for route in ConsoleRoutes.all where route.kind == .action {
            let before = try await looks(world)
            let id = UUID().uuidString.lowercased()
            let path = route.path.description.replacing("{}", with: id)
            let values = Dictionary(values, uniquingKeysWith: { first, _ in first })
            let form = console.form(path, subject: route.subject(world.request([id], values)), values.map { ($0, $1) })
            _ = await console.send(.post, path, body: form)
            if try await looks(world) > before { found.append(route.path.description) }
        }
        return found.sorted()
    }

    @Test("covers every form that finds a person by a number, and each look is recorded")
    func forms() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let console = ServedConsole(world)
            let recorded = try await Self.paths(world, console)
            #expect(recorded == ["/bans/find", "/bans/new", "/search"])
            for _ in 0..<60 { _ = await console.send(.get, "/search") }
            #expect(await console.send(.get, "/search").status == 429)
            let later = try await Self.paths(world, console)
            #expect(later.isEmpty)
        }
    }
}
