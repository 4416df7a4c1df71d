import Authority
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Synchronization
import Tokens

@testable import Operations

/// What an operation has done to a node besides its answer.
enum NodeEffect: String, Comparable, Sendable {
    /// A session is no longer remembered.
    case dropsSession
    /// A session is remembered that was not.
    case remembersSession
    case dropsProvider
    /// How far alice is verified is no longer remembered.
    case dropsLevel
    /// Connections of banned users are closed, or rid of them.
    case closesUsers
    /// Certificates are read anew, and connections closed whose own is not valid.
    case readsCertificates
    case wakesOutbox

    static func < (one: NodeEffect, other: NodeEffect) -> Bool { one.rawValue < other.rawValue }
}

/// Two nodes on one store that both remember a session of alice, her certificate and her provider.
struct ConsequenceWorld: Sendable {
    let fixture: ServiceFixture
    let bans: BanBench
    let cards: CardBench
    let alice: PhoneBench.Person
    let token: String
    let first: Node
    let second: Node

    /// A node with a connection of alice's device.
    final class Node: Sendable {
        let context: Service
        let connection: ClientConnection
        private let before = Mutex((sessions: 0, providers: 0))
        private let user = Mutex<UserID?>(nil)
        private let place = Mutex<MessagePolls.Place?>(nil)

        init(_ fixture: ServiceFixture, _ thumbprint: Digest256) {
            let box = EffectBox()
            context = fixture.context(
                node: ServingNode(
                    caches: Caches(store: fixture.store), onMessage: { box.note(.wakesOutbox) },
                    onUserBan: { _ in box.note(.closesUsers) },
                    onDeviceChange: { _ in box.note(.readsCertificates) }))
            connection = ClientConnection(id: ConnectionID(UUID()), thumbprint: thumbprint) {}
            self.box = box
        }

        private let box: EffectBox

        /// Remembers what there is, and begins to count.
        func warm(_ token: String, _ session: Session) async throws {
            try await context.invalidator.poll()
            _ = try? await context.authenticate(connection)
            _ = try? await context.checkSession(token, on: connection)
            _ = try? await context.readProfile(session)
            _ = box.take()
            let caches = context.node.caches
            caches.levels.remember(
                AssuranceLevel(.none, until: nil), of: session.userID, since: caches.levels.mark)
            user.withLock { $0 = session.userID }
            let waiting = context.node.messagePolls.enter(Set(session.subjects))
            place.withLock { $0 = waiting }
            before.withLock { $0 = (caches.sessions.count, caches.providers.count) }
        }

        /// What was done to the node since.
        func effects() -> [NodeEffect] {
            var effects = box.take()
            let (caches, before) = (context.node.caches, before.withLock { $0 })
            if caches.sessions.count < before.sessions { effects.insert(.dropsSession) }
            if caches.sessions.count > before.sessions { effects.insert(.remembersSession) }
            if caches.providers.count < before.providers { effects.insert(.dropsProvider) }
            if user.withLock({ $0.flatMap(caches.levels.known) }) == nil { effects.insert(.dropsLevel) }
            return effects.sorted()
        }

        /// Whether a call was woken that has waited in alice's session since ``warm(_:_:)``.
        func wasWoken() async -> Bool {
            guard let place = place.withLock({ $0 }) else { return false }
            context.node.messagePolls.leave(place)
            var count = 0
            for await _ in place.changes { count += 1 }
            return count > 0
        }

        /// A fresh proof of the provider's, as this node reads it.
        func proof(_ fixture: ServiceFixture) async throws -> Service.FreshProof {
            let own = fixture.registration
            return try await context.proof(
                of: fixture.signer, own.keyID, own.provider.id, fixture.clock.now)
        }

        /// The provider's backend, as this node knows it.
        func backend(_ fixture: ServiceFixture) async throws -> Service.ProvenProvider {
            try await context.authenticateProvider(
                try fixture.signer.providerToken(
                    provider: fixture.registration.provider.id, kid: fixture.registration.keyID,
                    realm: ServiceFixture.realm, now: fixture.clock.now), for: nil,
                in: ProvenRequest(method: "GET", path: "/provider", body: []), at: .free)
        }
    }

    final class EffectBox: Sendable {
        private let seen = Mutex<Set<NodeEffect>>([])
        func note(_ effect: NodeEffect) { seen.withLock { _ = $0.insert(effect) } }
        func take() -> Set<NodeEffect> {
            seen.withLock { seen in
                defer { seen = [] }
                return seen
            }
        }
    }

    init(_ fixture: ServiceFixture) async throws {
        self.fixture = fixture
        bans = try BanBench(fixture)
        cards = try CardBench(fixture)
        let connection = try await fixture.connectNewDevice()
        let opened = try await fixture.opened("alice", on: connection)
        alice = PhoneBench.Person(session: opened.session, connection: connection)
        token = opened.token?.text.reveal() ?? ""
        let provider = fixture.registration.provider.id
        try await fixture.store.write {
            try ProviderWebhookRepository($0).set("https://receiver.invalid/", of: provider)
        }
        first = Node(fixture, connection.thumbprint)
        second = Node(fixture, connection.thumbprint)
    }

    /// What is in the store besides the change itself.
    struct Written: Equatable {
        var audit: [String] = []
        var notices: [String] = []
        /// Security events by name, and other messages by kind.
        var queued: [String] = []
    }

    /// What the log's numbers stand for.
    private static let notices: [Int64: String] = [
        1: "session", 2: "user", 3: "banned_user", 4: "device", 5: "provider", 6: "provider_keys",
        7: "provider_key", 8: "user_level", 9: "messages", 10: "typing",
        11: "presence", 12: "administrator",
    ]

    /// What was written since a mark.
    func written(since mark: Mark? = nil) async throws -> (Written, Mark) {
        try await fixture.store.read { transaction in
            func rows(_ sql: String) throws -> [(String, String)] {
                try transaction.query(sql).map { (try $0.text(0), try $0.text(1)) }
            }
            let audit = try rows("SELECT id, event FROM audit_entries")
            let notices = try transaction.query("SELECT tag, kind FROM change_log WHERE kind > 0").map { row in
                let kind = try row.integer(1)
                return (String(try row.integer(0)), Self.notices[kind] ?? "\(kind)")
            }
            let queued = try transaction.query("SELECT id, kind, payload FROM outbox").map { row in
                let event = ProviderEvent(jsonText: try row.bytes(2))?.name
                let kind = try row.text(1)
                return (try row.text(0), event ?? kind)
            }
            let known = mark?.known ?? []
            func new(_ rows: [(String, String)]) -> [String] {
                rows.filter { !known.contains($0.0) }.map(\.1).sorted()
            }
            return (
                Written(audit: new(audit), notices: new(notices), queued: new(queued)),
                Mark(known: Set((audit + notices + queued).map(\.0)))
            )
        }
    }

    struct Mark: Sendable {
        let known: Set<String>
    }

    func serial() async throws -> String {
        let thumbprint = alice.connection.thumbprint
        return try await fixture.store.read {
            try CertificateRepository($0).find(thumbprint: thumbprint)?.serial ?? ""
        }
    }

    /// A Security Event Token that ends alice's sessions.
    func logout() throws -> String {
        let provider = fixture.registration.provider.id
        func text(_ pairs: KeyValuePairs<String, String>) -> JSONValue {
            .object(pairs.map { JSONMember(name: $0.key, value: .string($0.value)) })
        }
        var draft = TokenDraft(header: [JSONMember(name: "alg", value: .string("ES256"))])
        draft[header: "typ"] = .string("secevent+jwt")
        draft[header: "kid"] = .string(fixture.registration.keyID.description)
        draft[claim: "iss"] = .string(provider.description)
        draft[claim: "aud"] = .string(ServiceFixture.realm)
        draft[claim: "iat"] = .integer(Int64(fixture.clock.now.timeIntervalSince1970))
        draft[claim: "jti"] = .string(UUID().uuidString)
        draft[claim: "sub_id"] = text(["format": "iss_sub", "iss": provider.description, "sub": "alice"])
        draft[claim: "events"] = .object([JSONMember(name: ProviderEvent.sessionRevokedType, value: .object([]))])
        return try fixture.signer.sign(draft)
    }

    /// Alice and bob, verified and within reach of pushes.
    func verified() async throws -> (alice: PhoneBench.Person, bob: PhoneBench.Person) {
        try await cards.prove("+14155552671", alice)
        try await cards.show(try CardBench.specimen("T64235781", family: "ADAMS"), alice)
        let bob = try await cards.withPhone("bob", "+14155552672")
        try await cards.show(try CardBench.specimen("T64235782", family: "BAKER"), bob)
        for person in [alice, bob] {
            try await cards.fixture.context.changeProfile(
                Service.ProfileChange(
                    endpoints: PushEndpointChange(usual: .some(AuthorizationBench.endpoint("phone")))),
                for: person.session)
        }
        return (alice, bob)
    }
}
