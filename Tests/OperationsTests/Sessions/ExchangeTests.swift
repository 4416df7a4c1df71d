import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing
import Tokens

@testable import Operations

@Suite("The exchange of a session's token")
struct ExchangeTests {
    private static func counted(
        _ kind: StoreKind, _ body: (ServiceFixture, StatementCounter, () async throws -> JSONText) async throws -> Void
    ) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            let token = try #require(opened.token).text.reveal()
            let counter = StatementCounter(fixture.store)
            let context = fixture.context(store: counter)
            let provider = opened.session.providerID.description
            try await body(fixture, counter) {
                try await context.invalidator.poll()
                _ = (counter.take(), counter.takeReads())
                let answer = try await context.exchangeSessionToken(.init(token, for: [provider]), on: connection)
                let payload = try UnverifiedToken(answer.token.reveal(), refusing: .malformedRequest).payload
                return JSONText(acr: payload["acr"]?.text, sub: payload["sub"]?.text)
            }
        }
    }

    private struct JSONText: Equatable {
        let acr: String?
        let sub: String?
    }

    @Test("writes nothing, and on a file asks the store nothing that memory knows", arguments: StoreKind.shared)
    func statements(kind: StoreKind) async throws {
        try await Self.counted(kind) { fixture, counter, exchange in
            let first = try await exchange()
            #expect(counter.takeReads() == 1)
            #expect(try await exchange() == first)
            // A server must be asked whether it stood still.
            #expect(counter.takeReads() == (kind.description == StoreKind.postgresql.description ? 1 : 0))
            let written = counter.take()
            #expect(written.statements == 0 && written.rows == 0)
        }
    }

    @Test("says the level that the store has, also right after another process has changed it")
    func level() async throws {
        try await Self.counted(.sqlite) { fixture, _, exchange in
            let before = try await exchange()
            #expect(before.acr == "none")
            let user = try #require(before.sub.flatMap { UserID($0[...]) })
            try await fixture.store.write {
                if let change = try UserRepository($0).setAssurance(.phone, until: nil, of: user) {
                    try Repositories.ChangeLog($0).append(.userLevel(change.userID))
                }
            }
            #expect(try await exchange().acr == "phone")
        }
    }

    @Test("comes from memory alone, unless another process has changed anything, or the request wants more")
    func fromMemory() async throws {
        try await ServiceFixture.run(on: .sqlite) { fixture in
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            let token = try #require(opened.token).text.reveal()
            let targets = [opened.session.providerID.description]
            let usual = Service.SessionExchange(token, for: targets)
            try await fixture.context.invalidator.poll()
            // The user's level is not known yet.
            #expect(fixture.context.exchangeFromMemory(usual, on: connection) == nil)
            _ = try await fixture.context.exchangeSessionToken(usual, on: connection)
            #expect(fixture.context.exchangeFromMemory(usual, on: connection)?.lifetime ?? 0 > 0)
            let others = [
                Service.SessionExchange(token, for: targets, scope: "verified_claims"),
                Service.SessionExchange(token, for: targets, proof: "e30.e30.x"),
                Service.SessionExchange(token, for: targets, clientID: UUID().uuidString),
                Service.SessionExchange(token, for: targets + ["https://other.example"]),
                Service.SessionExchange(token + "x", for: targets),
            ]
            for other in others { #expect(fixture.context.exchangeFromMemory(other, on: connection) == nil) }
            let another = try await fixture.connectNewDevice()
            #expect(fixture.context.exchangeFromMemory(usual, on: another) == nil)
            let user = opened.session.userID
            try await fixture.store.write { _ = try UserRepository($0).setAssurance(.phone, until: nil, of: user) }
            #expect(fixture.context.exchangeFromMemory(usual, on: connection) == nil)
            try await fixture.context.invalidator.poll()
            #expect(fixture.context.exchangeFromMemory(usual, on: connection) != nil)
            try await fixture.context.endSession(token, on: connection)
            #expect(fixture.context.exchangeFromMemory(usual, on: connection) == nil)
        }
    }

    @Test("that meets a change has it read at once, so that soon memory answers again")
    func wakes() async throws {
        var policy = Policy()
        policy.bans.changePollInterval = 3600
        try await ServiceFixture.run(policy, on: .sqlite) { fixture in
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            let request = Service.SessionExchange(
                try #require(opened.token).text.reveal(), for: [opened.session.providerID.description])
            _ = try await fixture.context.exchangeSessionToken(request, on: connection)
            let watching = Task { try await fixture.watch.run { _ in } }
            func isAnswered() async throws -> Bool {
                let deadline = ContinuousClock.now + .seconds(120)
                while fixture.context.exchangeFromMemory(request, on: connection) == nil {
                    guard ContinuousClock.now < deadline else { return false }
                    try await Task.sleep(for: .milliseconds(5))
                }
                return true
            }
            #expect(try await isAnswered())
            let user = opened.session.userID
            try await fixture.store.write { _ = try UserRepository($0).setAssurance(.phone, until: nil, of: user) }
            #expect(fixture.context.exchangeFromMemory(request, on: connection) == nil)
            #expect(try await isAnswered())
            watching.cancel()
            try await watching.value
        }
    }

    @Test("counts a request once, whether memory or the store answers it")
    func limit() async throws {
        var policy = Policy()
        policy.accessTokens.exchangedPerMinute = 4
        try await ServiceFixture.run(policy, on: .sqlite) { fixture in
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            let request = Service.SessionExchange(
                try #require(opened.token).text.reveal(), for: [opened.session.providerID.description])
            _ = try await fixture.context.exchangeSessionToken(request, on: connection)
            try await fixture.context.invalidator.poll()
            for _ in 0..<3 { #expect(fixture.context.exchangeFromMemory(request, on: connection) != nil) }
            #expect(fixture.context.exchangeFromMemory(request, on: connection) == nil)
            await #expect(throws: Refusal.self) {
                _ = try await fixture.context.exchangeSessionToken(request, on: connection)
            }
        }
    }
}
