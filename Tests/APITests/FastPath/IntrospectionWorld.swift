import Domain
import Fixtures
import Foundation
import Repositories
import Testing
import Tokens

@testable import API
@testable import Operations

/// Users with sessions in all their states, about which their provider asks in all forms.
final class IntrospectionWorld {
    private let fixture: ServiceFixture
    private let usualPolicy: Policy
    private var random: SeededRandom
    private var people: [(connection: ClientConnection, token: String, user: UserID)] = []
    private var bearer = ""
    private var key: (signer: ProviderSigner, id: ProviderKeyID)
    private var signedIn = 0
    private var troubleLeft = 0
    private(set) var happened: [String: Int] = [:]

    init(_ fixture: ServiceFixture, seed: UInt64) async throws {
        self.fixture = fixture
        random = SeededRandom(seed: seed)
        usualPolicy = fixture.policy[\.self]
        key = (fixture.signer, fixture.registration.keyID)
        for _ in 0..<4 { people.append(try await signIn()) }
        bearer = try newBearer()
    }

    private var provider: ProviderID { fixture.registration.provider.id }

    private func signIn() async throws -> (connection: ClientConnection, token: String, user: UserID) {
        signedIn += 1
        let connection = try await fixture.connectNewDevice()
        let text = try key.signer.identityToken(
            provider: provider, kid: key.id, externalID: "user \"\(signedIn)\"\\é",
            nonce: fixture.context.issueNonce(connection).nonce, now: fixture.clock.now)
        let opened = try await fixture.context.openSession(identityToken: text, applicationID: nil, on: connection)
        return (connection, try #require(opened.token).text.reveal(), opened.session.userID)
    }

    private func newBearer(lifetime: Int64 = 3600) throws -> String {
        try key.signer.providerToken(
            provider: provider, kid: key.id, realm: ServiceFixture.realm, now: fixture.clock.now, lifetime: lifetime)
    }

    /// The next request; things happen between.
    func next() async throws -> WireRequest {
        fixture.clock.advance(TimeInterval.random(in: 0...2, using: &random))
        if troubleLeft > 0 {
            troubleLeft -= 1
            if troubleLeft == 0 { try await mend() }
        } else if Int.random(in: 0..<40, using: &random) == 0 {
            troubleLeft = 12
            try await happen()
        }
        return request()
    }

    private func happen() async throws {
        let person = people[Int.random(in: people.indices, using: &random)]
        let level = Assurance.allCases[Int.random(in: Assurance.allCases.indices, using: &random)]
        let events: [(String, () async throws -> Void)] = [
            ("idle", { [self] in fixture.clock.advance(3700) }),
            ("ended", { [self] in _ = try? await fixture.context.endSession(person.token, on: person.connection) }),
            (
                "challenged",
                { [self] in
                    let thief = try await fixture.connectNewDevice()
                    _ = try? await fixture.context.checkSession(person.token, on: thief)
                }
            ),
            ("level", { [self] in try await set(level, until: nil, of: person.user) }),
            ("lapse", { [self] in try await set(.issuerChecked, until: fixture.clock.now + 3, of: person.user) }),
            ("key", { [self] in try await exchangeKeys() }),
            ("expired", { [self] in bearer = try newBearer(lifetime: 5) }),
            ("many", { [self] in bearer = try newBearer() }),
            ("stale", { [self] in try change { $0.bans.maximumStaleness = 0 } }),
            ("wrong clock", { [self] in try change { $0.bans.maximumClockDifference = -1 } }),
        ]
        let (name, event) = events[Int.random(in: events.indices, using: &random)]
        happened[name, default: 0] += 1
        try await event()
    }

    private func change(_ change: (inout Policy) -> Void) throws {
        var policy = usualPolicy
        change(&policy)
        fixture.policy.replace(with: policy)
    }

    /// As the operations that verify set it.
    private func set(_ level: Assurance, until: Date?, of user: UserID) async throws {
        try await fixture.context.write { transaction, events in
            guard let change = try UserRepository(transaction).setAssurance(level, until: until, of: user) else {
                return
            }
            events.record(.assuranceChanged(change))
        }
    }

    /// The provider gets another key, and the one of before is revoked; its bearer tokens end with it.
    private func exchangeKeys() async throws {
        let signer = try ProviderSigner(.es256)
        let added = try await fixture.admin.addProviderKey(try signer.verificationKey, to: provider)
        _ = try await fixture.revokeKeyByAdmin(key.id, endingSessions: false, keepingAdded: true)
        key = (signer, added)
    }

    /// Everything is as usual again; who has no session signs in anew.
    private func mend() async throws {
        fixture.policy.replace(with: usualPolicy)
        bearer = try newBearer()
        for index in people.indices {
            let person = people[index]
            guard (try? await fixture.context.checkSession(person.token, on: person.connection)) == nil else {
                continue
            }
            people[index] = try await signIn()
        }
    }

    private func request() -> WireRequest {
        let token = people[Int.random(in: people.indices, using: &random)].token
        if Int.random(in: 0..<10, using: &random) < 7 { return form("token=\(token)") }
        let forms: [WireRequest] = [
            form("token=\(token)&token_type_hint=access_token"), form("token=\(token)&token_type_hint=other"),
            form("token_type_hint=access_token&token=\(token)"), form("token=\(token)&token=\(token)"),
            form("token=\(token.dropLast())%\(String(token.utf8.last ?? 65, radix: 16))"), form("token=\(token)x"),
            form("token=\(token)&"), form("token="), form("other=1"), form("token=\(token)&other=1"),
            form("token=\(String(repeating: "A", count: token.count))"), form(String(repeating: "a=b&", count: 600)),
            form("token=\(token)", type: "application/x-www-form-urlencoded; charset=utf-8"),
            form("token=\(token)", type: "application/json"), form("token=\(token)", authorization: "bearer \(bearer)"),
            form("token=\(token)", authorization: "Bearer  \(bearer)"), form("token=\(token)", authorization: "Bearer"),
            form("token=\(token)", authorization: "Bearer \(bearer)x"),
            form("token=\(token)", authorization: "Bearer \(token)"),
            form("token=\(token)", authorization: "Basic eDp5"),
            form("token=\(token)", others: [("Accept", "application/json")]),
            form("token=\(token)", others: [("Accept", "application/token-introspection+jwt")]),
            form("token=\(token)", others: [("Content-Type", "application/json")]),
            form("token=\(token)", others: [("Authorization", "Bearer \(bearer)")]),
            WireRequest(method: "POST", target: "/introspect", fields: [("Authorization", "Bearer \(bearer)")]),
            WireRequest(target: "/introspect", fields: [("Authorization", "Bearer \(bearer)")]),
            WireRequest(target: "/provider", fields: [("Authorization", "Bearer \(bearer)")]),
            WireRequest(target: "/sessions/current", fields: [("Authorization", "Bearer \(token)")]),
        ]
        return forms[Int.random(in: forms.indices, using: &random)]
    }

    private func form(
        _ body: String, type: String = "application/x-www-form-urlencoded", authorization: String? = nil,
        others: [(String, String)] = []
    ) -> WireRequest {
        WireRequest(
            method: "POST", target: "/introspect",
            fields: [
                ("Authorization", authorization ?? "Bearer \(bearer)"), ("Content-Type", type),
                ("Content-Length", String(body.utf8.count)),
            ] + others, body: body)
    }
}
