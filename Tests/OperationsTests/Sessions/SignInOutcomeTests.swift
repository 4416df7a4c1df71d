import Database
import Domain
import Encoding
import Fixtures
import Repositories
import Synchronization
import Testing

@testable import Operations

/// A store whose next shared statement has no answer, or is followed by something else before its answer comes.
private final class UnansweredStore: Database {
    enum Fate: CaseIterable {
        case kept
        case undone
    }

    private let store: any Database
    private let fate = Mutex<Fate?>(nil)
    private let mayWrite = Atomic<Bool>(true)
    private let behind = Mutex<(@Sendable () async throws -> Void)?>(nil)

    init(_ store: any Database) { self.store = store }

    func lose(_ fate: Fate, mayWrite: Bool = true) {
        self.fate.withLock { $0 = fate }
        self.mayWrite.store(mayWrite, ordering: .relaxed)
    }

    func follow(by act: @Sendable @escaping () async throws -> Void) { behind.withLock { $0 = act } }

    func share(_ statement: SharedStatement) async throws -> [Row] {
        let fate = fate.withLock { fate in
            defer { fate = nil }
            return fate
        }
        if fate == .undone { throw StoreError.outcomeUnknown(reason: "the line was cut") }
        let rows = try await store.share(statement)
        if fate == .kept { throw StoreError.outcomeUnknown(reason: "the line was cut") }
        try await behind.withLock { $0 }?()
        return rows
    }

    func read<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await store.read(body)
    }

    func write<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        guard mayWrite.load(ordering: .relaxed) else { throw StoreError.unavailable(reason: "the line is cut") }
        return try await store.write(body)
    }

    func tables() async throws -> [TableShape] { try await store.tables() }
    func changeStamp() throws -> Int64 { try store.changeStamp() }
    func check() async throws { try await store.check() }
    func close() async throws {}
}

@Suite("A sign-in whose commit has no answer")
struct SignInOutcomeTests {
    private static func run(
        on kind: StoreKind,
        _ body: (ServiceFixture, UnansweredStore, ClientConnection, Service) async throws -> Void
    ) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let connection = try await fixture.connectNewDevice()
            // From then on a sign-in is one statement.
            _ = try await fixture.opened("alice", on: connection)
            let store = UnansweredStore(fixture.store)
            try await body(fixture, store, connection, fixture.context(store: store))
        }
    }

    private static func sessions(_ fixture: ServiceFixture) async throws -> Int? {
        try await fixture.store.read { try $0.first("SELECT COUNT(*) FROM sessions").map { Int(try $0.integer(0)) } }
    }

    @Test("opens one session and gives its token, whatever became of the commit", arguments: StoreKind.shared)
    func resolved(kind: StoreKind) async throws {
        try await Self.run(on: kind) { fixture, store, connection, service in
            for (number, fate) in UnansweredStore.Fate.allCases.enumerated() {
                store.lose(fate)
                let token = try fixture.identityToken("alice", on: connection)
                let opened = try await service.openSession(identityToken: token, applicationID: nil, on: connection)
                #expect(try await Self.sessions(fixture) == number + 2)
                let shown = try #require(opened.token).text.reveal()
                #expect(try await fixture.context.checkSession(shown, on: connection).id == opened.session.id)
                await #expect(throws: Refusal(.invalidIdentityToken, "", reason: .nonceUsed)) {
                    _ = try await service.openSession(identityToken: token, applicationID: nil, on: connection)
                }
            }
        }
    }

    @Test("says so if nobody can find out, and spends the nonce at most once", arguments: StoreKind.shared)
    func unknown(kind: StoreKind) async throws {
        try await Self.run(on: kind) { fixture, store, connection, service in
            for fate in UnansweredStore.Fate.allCases {
                let before = try await Self.sessions(fixture)
                let token = try fixture.identityToken("alice", on: connection)
                store.lose(fate, mayWrite: false)
                await #expect(throws: Refusal(.unavailable, "", reason: .outcomeUnknown)) {
                    _ = try await service.openSession(identityToken: token, applicationID: nil, on: connection)
                }
                let kept = try await Self.sessions(fixture)
                #expect(kept == (before ?? 0) + (fate == .kept ? 1 : 0))
                store.lose(.undone)
                let again = try? await service.openSession(identityToken: token, applicationID: nil, on: connection)
                #expect((again == nil) == (fate == .kept))
                #expect(try await Self.sessions(fixture) == (before ?? 0) + 1)
            }
        }
    }

    @Test("leaves no profile behind an erasure that comes between the session and it", arguments: StoreKind.shared)
    func erased(kind: StoreKind) async throws {
        try await Self.run(on: kind) { fixture, store, connection, service in
            let user = try await fixture.opened("alice", on: connection).session.userID
            let bench = try CardBench(fixture)
            let address = fixture.registration.provider.address(of: "alice")
            store.follow { _ = try await bench.admin.eraseUser(address, reason: "request-1") }
            let token = try fixture.signer.identityToken(
                provider: fixture.registration.provider.id, kid: fixture.registration.keyID, externalID: "alice",
                nonce: fixture.context.issueNonce(connection).nonce, now: fixture.clock.now
            ) { $0[claim: "display_name"] = .string("Alice") }
            _ = try await service.openSession(identityToken: token, applicationID: nil, on: connection)
            let profile = try await fixture.store.read { [keys = fixture.personalKeys] in
                try UserProfile.find(user, keys: keys, in: $0)
            }
            #expect(profile.displayName == nil)
        }
    }
}
