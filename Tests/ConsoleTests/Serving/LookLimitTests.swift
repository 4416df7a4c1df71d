import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Operations
import Testing

@testable import Console

@Suite("The limit of looks")
struct LookLimitTests {
    /// Values by which each form that takes a number finds its user.
    private static func values(_ number: String) -> [(String, String)] {
        [
            ("kind", "phone"), ("trait", "phone"), ("subject", number), ("value", number), ("reason", "spam"),
            ("scope", "all"), ("duration", "30d"), ("users", "0"),
        ]
    }

    private static func looks(_ world: ConsoleWorld) async throws -> Int {
        try await ReadAudit(store: world.fixture.store).search(
            ReadAudit.Filter(event: "personal_data_read"), count: 500
        ).count
    }

    /// Sends the values to every action, and returns the paths that recorded a look.
    private static func paths(_ world: ConsoleWorld, _ console: ServedConsole, _ number: String = "+14155552671")
        async throws -> [String]
    {
        var found: [String] = []
        for route in ConsoleRoutes.all where route.kind == .action {
            let before = try await looks(world)
            let id = UUID().uuidString.lowercased()
            let path = route.path.description.replacing("{}", with: id)
            let all = Self.values(number)
            let values = Dictionary(all, uniquingKeysWith: { first, _ in first })
            let form = console.form(path, subject: route.subject(world.request([id], values)), all)
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
            for number in 0..<59 { try Self.look(number, world) }
            #expect(throws: Refusal(.rateLimited, "")) { try Self.look(60, world) }
            let later = try await Self.paths(world, console, "+14155552672")
            #expect(later.isEmpty)
            // The first number is a person who was looked at within the hour. The first console would answer the same
            // forms as it did.
            let again = try await Self.paths(world, ServedConsole(world))
            // The ban is there by now, and its refusal records the look, too.
            #expect(again == ["/bans"] + recorded)
            #expect(await console.send(.get, "/search").status == 200)
        }
    }

    private static func look(_ number: Int, _ world: ConsoleWorld) throws {
        try world.fixture.context.countLook(at: Digest256.of("\(number)"), of: [], by: world.administrator)
    }

    @Test("counts 60 persons in any hour, however often each is seen")
    func persons() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            for number in 0..<60 {
                for _ in 0..<3 { try Self.look(number, world) }
                world.fixture.clock.advance(30)
            }
            // Half an hour has passed, and none of it gives a person back.
            #expect(throws: Refusal.tooManyLooks(60, retryAfter: 1800)) { try Self.look(60, world) }
            for number in 0..<60 { try Self.look(number, world) }
            world.fixture.clock.advance(3599)
            #expect(throws: Refusal(.rateLimited, "")) { try Self.look(60, world) }
            world.fixture.clock.advance(1)
            try Self.look(60, world)
        }
    }

    @Test("counts a person once who is found by a number and then seen")
    func aliases() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let (name, user) = (Digest256.of("phone +14155552671"), UserID(world.fixture.admin.environment.newUUID()))
            let request = world.request()
            for number in 0..<59 { try Self.look(number, world) }
            try request.look(by: name)
            try request.look(by: name, at: [user])
            try request.look(at: [user])
            try request.look(by: Digest256.of("device"), at: [user])
            #expect(throws: Refusal(.rateLimited, "")) { try request.look(at: [UserID(UUID())]) }
        }
    }
}
