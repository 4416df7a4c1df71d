import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("An app that a user forbids")
struct ForbiddenAppTests {
    private static let forbidden = Refusal(.invalidIdentityToken, "", reason: .appForbidden)

    /// A user with sessions of two apps on one device.
    private struct Bench {
        let fixture: ServiceFixture
        let connection: ClientConnection
        let kept: Application
        let revoked: Application

        init(_ fixture: ServiceFixture) async throws {
            self.fixture = fixture
            let first = try await fixture.store.read {
                try ProviderRepository($0).listApplications(of: fixture.registration.provider.id).first
            }
            kept = try #require(first)
            // Apps are listed in the order of registration.
            fixture.clock.advance(1)
            revoked = try await fixture.admin.addApplication("Second", to: "test")
            try await fixture.watch.poll()
            connection = try await fixture.connectNewDevice()
        }

        func open(_ app: Application, by user: String = "alice") async throws -> Service.OpenedSession {
            try await fixture.context.openSession(
                identityToken: try fixture.identityToken(user, on: connection), applicationID: app.id.description,
                on: connection)
        }
    }

    @Test(
        "loses its sessions on every node at once, and opens no other until the user allows it",
        arguments: StoreKind.shared)
    func sessions(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let bench = try await Bench(fixture)
            let (own, gone) = (try await bench.open(bench.kept), try await bench.open(bench.revoked))
            let stranger = try await bench.open(bench.revoked, by: "bob")
            let tokens = try [own, gone, stranger].map { try #require($0.token).text.reveal() }
            let other = fixture.context(node: ServingNode(caches: Caches(store: fixture.store)))
            try await other.invalidator.poll()
            let there = ClientConnection(id: ConnectionID(UUID()), thumbprint: bench.connection.thumbprint) {}
            try await other.authenticate(there)
            for (one, token) in zip([own, gone, stranger], tokens) {
                let user = one.session.userID.description
                _ = try await other.resumeSession(userID: user, sessionToken: token, on: there)
            }

            let id = bench.revoked.id.description
            for _ in 0..<2 { try await fixture.context.forbidApp(id, for: own.session) }
            try await other.invalidator.poll()
            for (context, connection) in [(fixture.context, bench.connection), (other, there)] {
                _ = try await context.checkSession(tokens[0], on: connection)
                _ = try await context.checkSession(tokens[2], on: connection)
                await #expect(throws: Refusal(.sessionDestroyed, "")) {
                    try await context.checkSession(tokens[1], on: connection)
                }
                await #expect(throws: Refusal(.sessionDestroyed, "")) {
                    try await context.exchangeSessionToken(Service.SessionExchange(tokens[1], for: []), on: connection)
                }
            }
            for _ in 0..<2 { await #expect(throws: Self.forbidden) { try await bench.open(bench.revoked) } }
            _ = try await bench.open(bench.revoked, by: "bob")
            let again = try await bench.open(bench.kept)
            #expect(try await fixture.context.listApps(for: own.session).map { $0.sessions } == [2, 0])

            try await fixture.context.allowApp(id, for: again.session)
            _ = try await bench.open(bench.revoked)
            let apps = try await fixture.context.listApps(for: own.session)
            #expect(apps.map { $0.app } == [bench.kept, bench.revoked] && apps.allSatisfy { $0.forbiddenAt == nil })
        }
    }

    @Test("gets no push any more, and other apps still do")
    func pushes() async throws {
        var policy = Policy()
        policy.phones.pushApplications = [AuthorizationBench.application]
        try await ServiceFixture.run(policy) { fixture in
            let bench = try await Bench(fixture)
            let there = try await fixture.connectNewDevice()
            let gone = try await fixture.context.openSession(
                identityToken: try fixture.identityToken("alice", on: there),
                applicationID: bench.revoked.id.description, on: there)
            let own = try await bench.open(bench.kept)
            for (name, session) in [("own", own.session), ("gone", gone.session)] {
                try await fixture.context.changeProfile(
                    Service.ProfileChange(
                        endpoints: PushEndpointChange(usual: .some(AuthorizationBench.endpoint(name)))),
                    for: session)
            }
            func devices() async throws -> Set<DeviceID> {
                let keys = fixture.context.keys.personal
                return Set(
                    try await fixture.store.read {
                        try PushEndpointRepository($0, keys: keys).list(of: own.session.userID).map(\.device)
                    })
            }
            #expect(try await devices() == [own.session.deviceID, gone.session.deviceID])
            try await fixture.context.forbidApp(bench.revoked.id.description, for: own.session)
            #expect(try await devices() == [own.session.deviceID])
        }
    }

    @Test("loses also a session that is opened or renewed meanwhile, and the user's other sessions last")
    func meanwhile() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try await Bench(fixture)
            let (own, gone) = (try await bench.open(bench.kept), try await bench.open(bench.revoked))
            try await fixture.context.forbidApp(bench.revoked.id.description, for: own.session)
            // As a sign-in writes it that read the generations before.
            var late = gone.session
            late = Session(
                id: SessionID(UUID()), tokenHash: .of("late"), userID: late.userID, providerID: late.providerID,
                externalID: late.externalID, applicationID: late.applicationID, deviceID: late.deviceID,
                thumbprint: late.thumbprint, providerKeyID: late.providerKeyID, state: .authenticated,
                createdAt: late.createdAt, renewedAt: late.renewedAt, lastUsedAt: late.lastUsedAt, challengedAt: nil)
            let session = late
            try await fixture.store.write { try SessionRepository($0).insert(session, at: .first) }
            let states = try await fixture.store.read { transaction in
                try [session.id, gone.session.id, own.session.id].map {
                    try SessionRepository(transaction).find($0)?.state
                }
            }
            #expect(states == [.unauthenticated, .unauthenticated, .authenticated])
            // A ban that ends does not make the next sign-in forget.
            try await fixture.store.write {
                try GenerationRepository($0).setMayBeBanned(false, .user(session.userID))
            }
            await #expect(throws: Self.forbidden) { try await bench.open(bench.revoked) }
        }
    }

    @Test("stays forbidden after a restore of a copy from before")
    func restored() async throws {
        try await MessageBench.run(on: .sqlite) { bench in
            let ann = try await bench.people.person("ann")
            try await bench.context.store.write {
                let app = Application(id: ann.applicationID, providerID: ann.providerID, name: "App")
                try ProviderRepository($0).insert(app, at: $0.now)
            }
            try await bench.restored {
                try await bench.context.store.write {
                    _ = try ForbiddenAppRepository($0).insert(ann.applicationID, of: ann.userID, at: $0.now)
                }
            } then: { copy, report in
                let isForbidden = try await copy.read {
                    try ForbiddenAppRepository($0).forbids(ann.applicationID, to: ann.userID)
                }
                #expect(isForbidden && report.withdrawals == 1)
            }
        }
    }

    @Test("is not the app of the session that forbids it, nor another provider's")
    func refusals() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try await Bench(fixture)
            let own = try await bench.open(bench.kept)
            await #expect(throws: Refusal(.conflict, "", state: "current")) {
                try await fixture.context.forbidApp(bench.kept.id.description, for: own.session)
            }
            for id in [UUID().uuidString, "", "x"] {
                await #expect(throws: Refusal(.notFound, "")) {
                    try await fixture.context.forbidApp(id, for: own.session)
                }
                await #expect(throws: Refusal(.notFound, "")) {
                    try await fixture.context.allowApp(id, for: own.session)
                }
            }
        }
    }

    @Test("is allowed by an operator for a user without another app, and forgotten with the user")
    func support() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try await Bench(fixture)
            let id = bench.revoked.id.description
            var own = try await bench.open(bench.kept)
            try await fixture.context.forbidApp(id, for: own.session)
            let listed = try await fixture.admin.listApps(of: "test/alice", policy: SessionPolicy())
            #expect(listed.map { $0.sessions } == [1, 0] && listed.map { $0.forbiddenAt == nil } == [true, false])
            #expect(
                try await fixture.context.exportPersonalData(for: own.session).json["forbidden_apps"]
                    == .array([.string(id)]))
            #expect(try await fixture.admin.allowApp(TypedID(id), of: "test/alice", reason: nil).wasForbidden)
            #expect(try await !fixture.admin.allowApp(TypedID(id), of: "test/alice", reason: nil).wasForbidden)
            _ = try await bench.open(bench.revoked)
            own = try await bench.open(bench.kept)
            try await fixture.context.forbidApp(id, for: own.session)
            _ = try await fixture.context.erasePersonalData(for: own.session)
            _ = try await bench.open(bench.revoked)
        }
    }
}
