import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("A sign-in across a network")
struct SignInStatementTests {
    @Test("waits for the store once to open a known user's session, and never to check one that is known")
    func exchanges() async throws {
        try await ServiceFixture.run(on: .postgresql) { fixture in
            let store = try #require(fixture.store as? PostgreSQLDatabase)
            let connection = try await fixture.connectNewDevice()
            let first = try await fixture.opened("known", on: connection)
            for (user, kind, waits) in [("known", "a known user", 1), ("new", "a new user", 3)] {
                let token = try fixture.identityToken(user, on: connection)
                let before = store.exchanges
                _ = try await fixture.context.openSession(identityToken: token, applicationID: nil, on: connection)
                #expect(store.exchanges - before == waits, "\(kind)")
            }
            let before = store.exchanges
            let session = try await fixture.context.checkSession(
                try #require(first.token).text.reveal(), on: connection)
            #expect(store.exchanges == before)
            #expect(session.id == first.session.id)
        }
    }

    @Test("keeps a user's profile that the provider has changed, and the limit of sessions")
    func profile() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            func open(_ name: String) async throws -> Service.OpenedSession {
                let token = try fixture.signer.identityToken(
                    provider: fixture.registration.provider.id, kid: fixture.registration.keyID, externalID: "alice",
                    nonce: fixture.context.issueNonce(connection).nonce, now: fixture.clock.now
                ) { $0[claim: "display_name"] = .string(name) }
                return try await fixture.context.openSession(identityToken: token, applicationID: nil, on: connection)
            }
            for name in ["Alice", "Alice", "Alice B."] {
                let session = try await open(name).session
                let profile = try await fixture.store.read { [keys = fixture.personalKeys] in
                    try UserProfile.find(session.userID, keys: keys, in: $0)
                }
                #expect(profile.displayName == name)
            }
        }
    }

    @Test(
        "at once with others leaves at most a few sessions too many, which the next one ends",
        arguments: StoreKind.shared)
    func limit(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let connection = try await fixture.connectNewDevice()
            let most = fixture.policy[\.sessions].perUserAndDevice
            let user = try await fixture.opened("alice", on: connection).session.userID
            let tokens = try (0..<most).map { _ in try fixture.identityToken("alice", on: connection) }
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for token in tokens {
                    tasks.addTask {
                        _ = try await fixture.context.openSession(
                            identityToken: token, applicationID: nil, on: connection)
                    }
                }
                try await tasks.waitForAll()
            }
            func open() async throws -> Int {
                try await fixture.store.read { try SessionRepository($0).listOpen(.user(user)).count }
            }
            #expect([most, most + 1].contains(try await open()))
            _ = try await fixture.opened("alice", on: connection)
            #expect(try await open() == most)
        }
    }

    @Test("beyond the limit of sessions ends the oldest live one, with a statement that others share")
    func ninth() async throws {
        var policy = Policy()
        policy.sessions.perUserAndDevice = 2
        try await ServiceFixture.run(policy, on: .postgresql, nodes: 2) { fixture, contexts in
            let connection = try await fixture.connectNewDevice()
            let most = fixture.policy[\.sessions].perUserAndDevice
            var opened: [Service.OpenedSession] = []
            for _ in 0..<most {
                opened.append(try await fixture.opened("alice", on: connection))
                fixture.clock.advance(1)
            }
            let ninth = try await fixture.opened("alice", on: connection).session
            let open = try await fixture.store.read { [user = ninth.userID] in
                try SessionRepository($0).listOpen(.user(user)).map(\.id)
            }
            #expect(Set(open) == Set(opened.dropFirst().map(\.session.id) + [ninth.id]))
            let token = try #require(opened.first?.token).text.reveal()
            for context in contexts {
                try await context.invalidator.poll()
                await #expect(throws: Refusal(.sessionDestroyed, "")) {
                    try await context.checkSession(token, on: connection)
                }
            }
            // Users who are at their limit do not take one another back.
            for user in 0..<12 {
                for _ in 0..<most {
                    _ = try await fixture.opened("user \(user)", on: connection)
                    fixture.clock.advance(5)
                }
            }
            fixture.clock.advance(60)
            let tokens = try (0..<12).map { try fixture.identityToken("user \($0)", on: connection) }
            let stores = contexts.compactMap { $0.store as? PostgreSQLDatabase }
            let before = stores.map(\.repetitions).reduce(0, +)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for (number, token) in tokens.enumerated() {
                    tasks.addTask {
                        _ = try await contexts[number % contexts.count].openSession(
                            identityToken: token, applicationID: nil, on: connection)
                    }
                }
                try await tasks.waitForAll()
            }
            #expect(stores.map(\.repetitions).reduce(0, +) - before <= 2)
        }
    }
}
