import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Operations
import Synchronization
import Testing

@testable import Console

/// Every page and every action, opened more often than a low limit permits, and more at once than have a turn.
@Suite("The cost of a page")
struct ConsoleCostTests {
    /// One call of each cost in a minute.
    private static var policy: Policy {
        var policy = Policy()
        (policy.requests.readsPerMinute, policy.requests.writesPerMinute, policy.requests.heavyPerMinute) = (1, 1, 1)
        return policy
    }

    @Test("is at least a read, and a write or more for an action that changes something")
    func declared() {
        for route in ConsoleRoutes.all {
            #expect(route.cost != .free, "\(route.path)")
            // The check of an identity token changes nothing.
            if route.kind == .action, route.path.description != "/providers/{}/token" {
                #expect(route.cost != .read, "\(route.path)")
            }
            if route.kind == .page { #expect(route.cost != .write, "\(route.path)") }
        }
        let heavy = ConsoleRoutes.all.filter { $0.cost == .heavy }.map(\.path.description)
        #expect(Set(heavy) == ["/audit/lines", "/audit/verify", "/users/{}/export", "/outbox/retry"])
    }

    @Test("is limited for the administrator on every route, by a page that says what to do, and for nobody else")
    func limited() async throws {
        try await ConsoleWorld.run(as: .security, Self.policy) { world in
            let (console, service) = (ServedConsole(world), world.fixture.context)
            let other = Digest256.of("certificate of mona")
            _ = try await world.fixture.admin.addAdministrator(
                "mona", role: .security,
                certificate: AdministratorCertificate(
                    thumbprint: other, notAfter: world.fixture.clock.now + 86_400, authority: Digest256.of("authority"))
            )
            for route in ConsoleRoutes.all {
                world.fixture.clock.advance(61)
                let path = route.path.description.replacing("{}", with: "0")
                let method: HTTPRequest.Method = route.kind == .page ? .get : .post
                #expect(await console.send(method, path).status != 429, "\(path)")
                #expect(throws: Refusal(.rateLimited, ""), "\(path)") {
                    try service.count(route.cost, by: .administrator(world.administrator.id))
                }
                let refused = await console.send(method, path)
                #expect(refused.status == 429 && refused.fields[.retryAfter] == "60", "\(path): \(refused.status)")
                #expect(refused.text.contains("Wait 60 s, then load the page again."), "\(path)")
                #expect(refused.text.hasPrefix("<!doctype html>"), "\(path)")
                #expect(await console.send(method, path, thumbprint: other).status != 429, "\(path)")
            }
        }
    }

    /// Runs that wait until the test lets them go on.
    private final class Runs: Sendable {
        let state = Mutex((begun: 0, isOpen: false))

        var begun: Int { state.withLock(\.begun) }

        func callAsFunction() async {
            state.withLock { $0.begun += 1 }
            // A statement does not end because nobody waits for it.
            while !state.withLock(\.isOpen) { await Task.yield() }
        }
    }

    @Test(
        "that is slow keeps one turn of its administrator, and no turn of another one",
        arguments: [ConsoleRoute.Kind.page, .action])
    func turns(kind: ConsoleRoute.Kind) async throws {
        let (turns, runs) = (Turns(most: 3), Runs())
        let (one, other) = (AdministratorID(UUID()), AdministratorID(UUID()))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { try await turns(kind, of: one) { await runs() } } }
            while turns.waiting < 3 { try await Task.sleep(for: .milliseconds(1)) }
            await #expect(throws: Refusal.lineFull) { try await turns(kind, of: one) {} }
            while runs.begun < 1 { try await Task.sleep(for: .milliseconds(1)) }
            #expect(runs.begun == 1)
            _ = try await turns(kind, of: other) { 1 }
            runs.state.withLock { $0.isOpen = true }
            try await group.waitForAll()
        }
        #expect(runs.begun == 4)
        _ = try await turns(kind, of: one) { 1 }
    }

    @Test("that nobody waits for any more keeps its turn until its statement ends")
    func givenUp() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let runs = Runs()
            let page = ConsoleRoute.page("/slow", .resolve, cost: .read) { _ in
                await runs()
                return .page(Page("Slow", content: ""))
            }
            let console = ServedConsole(world, [page], patience: Patience(limit: .milliseconds(20)))
            while runs.begun < 1 { #expect(await console.send(.get, "/slow").status == 503) }
            for _ in 0..<3 { #expect(await console.send(.get, "/slow").status == 503) }
            #expect(runs.begun == 1)
            runs.state.withLock { $0.isOpen = true }
            while await console.send(.get, "/slow").status != 200 {}
            #expect(runs.begun >= 2)
        }
    }
}
