import Crypto
import Database
import Delivery
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Repositories
import Synchronization
import Tokens

/// Authorizations over a store: two providers, verified people made in one step, and the pushes that came out.
struct AuthorizationBench {
    let store: any Database
    let clock: ServiceFixture.Clock
    let keys: PersonalKeys
    let policy: CurrentPolicy
    let context: Service
    let deliver: DeliverOutbox
    let housekeeping: Housekeeping
    let pushes = Pushes()
    private let numbers = Numbers()

    /// The last digits of telephone numbers, each once.
    private final class Numbers: Sendable {
        private let last = Mutex(1000)

        func next() -> Int {
            last.withLock { last in
                last += 1
                return last
            }
        }
    }

    static let application = "arn:aws:sns:us-east-1:123456789012:app/GCM/test"
    /// The birthday, the name and the number's beginning of everybody here: what no push and no answer may hold.
    static let secrets = ["1986-06-06", "SAMPLE", "MICHAEL", "+1415555"]

    /// What the push sender was given, and what it answers.
    final class Pushes: Sendable {
        private let state = Mutex(
            (
                sent: [(endpoint: String, payload: String, urgency: PushUrgency)](),
                outcome: DeliveryOutcome.sent(reference: "")
            ))

        var sent: [(endpoint: String, payload: String, urgency: PushUrgency)] { state.withLock { $0.sent } }

        /// The endpoints' last parts, in the order of sending.
        var endpoints: [String] { sent.map { String($0.endpoint.split(separator: "/").last ?? "") } }

        func answer(_ outcome: DeliveryOutcome) { state.withLock { $0.outcome = outcome } }

        func take(_ message: Message) -> DeliveryOutcome {
            state.withLock { state in
                guard case .push(let endpoint, let payload, let urgency) = message else {
                    return .refused(reason: "no push")
                }
                state.sent.append((endpoint, payload, urgency))
                return state.outcome
            }
        }

        /// What the app reads of the last push.
        func data() throws -> JSONValue {
            let payload = try StrictJSON.parse((sent.last?.payload ?? "").utf8)
            return try StrictJSON.parse((payload["APNS"]?.text ?? "").utf8)
        }
    }

    /// Builds the bench over a fresh store and runs a body on it.
    static func run(
        _ change: (inout Policy) -> Void = { _ in }, rateLimiting: RateLimiting = .off,
        _ body: (AuthorizationBench) async throws -> Void
    ) async throws {
        let clock = ServiceFixture.Clock()
        var policy = Policy()
        policy.phones.pushApplications = [application]
        change(&policy)
        let rules = policy
        let now: @Sendable () -> Date = { clock.now }
        try await withStore(migrations: Schema.migrations, clock: now) { store in
            try await body(
                try await AuthorizationBench(store, clock, CurrentPolicy(rules), rateLimiting))
        }
    }

    init(
        _ store: any Database, _ clock: ServiceFixture.Clock, _ policy: CurrentPolicy, _ rateLimiting: RateLimiting,
        keys: PersonalKeys? = nil
    ) async throws {
        self.store = store
        self.clock = clock
        self.policy = policy
        let environment = Environment(now: { clock.now })
        let keys =
            try keys
            ?? PersonalKeys(wrapping: [1: SymmetricKey(size: .bits256)], index: [1: SymmetricKey(size: .bits256)])
        self.keys = keys
        guard let codes = PhoneCodeKeys([1: Secret([UInt8](repeating: 9, count: 32))]),
            let accessTokens = ServiceFixture.accessTokens
        else {
            throw Refusal(.unavailable, "no key")
        }
        let secret = Secret([UInt8](repeating: 1, count: 32))
        let node = ServingNode(caches: Caches(store: store))
        let context = Service(
            realm: ServiceFixture.realm, urls: ServiceFixture.urls,
            keys: ServiceKeys(
                personal: keys, phoneCodes: codes, nonces: NonceKey(secret), exports: ExportKey(secret),
                accessTokens: accessTokens, authority: try TestAuthority().authority, otherAuthorities: []),
            rateLimiting: rateLimiting, node: node,
            invalidator: CacheInvalidator(store: store, node: node, policy: policy, environment: environment))
        self.context = context
        housekeeping = Housekeeping(context)
        let pushes = pushes
        deliver = DeliverOutbox(of: context, send: { message, _ in pushes.take(message) })
    }

    /// A user at a level, with an endpoint that ends in the user's name.
    func person(
        _ name: String, level: Assurance = .barcode, hasEndpoint: Bool = true, at slug: String = "test"
    ) async throws -> Session {
        let (keys, now) = (keys, clock.now)
        let number = "+1415555\(numbers.next())"
        let picture = "https://pictures.example/\(name).png"
        let user = try await store.write { transaction -> User in
            let providers = ProviderRepository(transaction)
            guard let slug = Slug(slug) else { throw Refusal(.malformedRequest, "no slug") }
            let provider =
                try providers.find(slug)
                ?? Provider(
                    id: ProviderID(UUID()), slug: slug, name: slug.text, account: nil, avatarHosts: [],
                    createdAt: now, disabledAt: nil)
            _ = try providers.insert(provider)
            let users = UserRepository(transaction)
            let user = try users.findOrCreate(
                providerID: provider.id, externalID: name, newID: UserID(UUID()), at: now)
            guard level > .none else { return user }
            let proved = AuthenticatedUserRepository(transaction, keys: keys)
            _ = try proved.phoneProven(user, number, at: now)
            let key = try DataKeyRepository(transaction, keys: keys).findOrCreate(user.id)
            try users.setProfile(
                displayName: try key.seal("Person \(name)", in: .userDisplayName, of: user.id),
                avatarURL: try key.seal(picture, in: .userAvatarURL, of: user.id),
                index: Digest256.of(picture), of: user.id)
            if level > .phone, let facts = Self.facts {
                _ = try proved.identityVerified(user.id, facts, assurance: level, at: now)
            }
            return user
        }
        let session = try await signIn(user)
        if hasEndpoint, level > .none { try await register(Self.endpoint(name), by: session) }
        return session
    }

    /// Registers an endpoint for a session's device.
    func register(_ usual: String?, calls: String? = nil, by session: Session) async throws {
        try await context.changeProfile(
            Service.ProfileChange(endpoints: PushEndpointChange(usual: .some(usual), calls: .some(calls))), for: session
        )
    }

    /// A session of a user on a device of its own. Housekeeping leaves it be, however many days pass.
    func signIn(_ user: User) async throws -> Session {
        let (now, device) = (clock.now, DeviceID(UUID()))
        let key = try await key(of: user.providerID)
        let session = Session(
            id: SessionID(UUID()), tokenHash: Digest256.of("\(device)"), userID: user.id,
            providerID: user.providerID, externalID: user.externalID, applicationID: ApplicationID(UUID()),
            deviceID: device, thumbprint: Digest256.of("\(device)"), providerKeyID: key,
            state: .authenticated, createdAt: now, renewedAt: now, lastUsedAt: now, challengedAt: nil)
        let certificate = DeviceCertificate(
            serial: session.deviceID.description, thumbprint: session.thumbprint, deviceID: session.deviceID,
            keyHash: session.thumbprint, notBefore: session.createdAt, notAfter: .distantFuture,
            issuedAt: session.createdAt, replaces: nil, firstSeenAt: session.createdAt, revoked: nil)
        try await store.write { transaction in
            _ = try DeviceRepository(transaction).insert(
                session.deviceID, userAgent: nil, presenceKey: nil, at: session.createdAt)
            try CertificateRepository(transaction).insert(
                certificate, subjectPublicKeyInfo: [], authority: .of("authority"))
            var row = session
            row.renewedAt = .distantFuture
            let generation = try transaction.first("SELECT generation FROM users WHERE id = $1", [.text("\(user.id)")])
            try SessionRepository(transaction).insert(
                row,
                at: SessionGenerations(user: try generation?.integer(0) ?? 0, device: 0, provider: 0, key: 0))
        }
        return session
    }

    /// A key of a provider, made if it has none.
    private func key(of provider: ProviderID) async throws -> ProviderKeyID {
        let new = ProviderKeyRecord(
            id: ProviderKeyID(UUID()), providerID: provider, algorithm: "ES256",
            subjectPublicKeyInfo: try ProviderSigner(.es256).verificationKey.subjectPublicKeyInfo, origin: .admin,
            createdAt: clock.now, retiredAt: nil, revokedAt: nil)
        return try await store.write { transaction in
            let keys = ProviderKeyRepository(transaction)
            if let present = try keys.list(of: provider).first { return present.id }
            _ = try keys.insert(new)
            return new.id
        }
    }

    /// Another session of a user whose own was ended.
    func signInAgain(_ session: Session) async throws -> Session {
        let user = try await store.read { try UserRepository($0).find(session.userID) }
        guard let user else { throw Refusal(.notFound, "no user") }
        return try await signIn(user)
    }

    static func endpoint(_ name: String) -> String {
        application.replacing(":app/", with: ":endpoint/") + "/" + name.replacing(" ", with: "-")
    }

    private static let facts = CardFacts(
        jsonText: """
            {"source":"aamva","kind":"licence","given_name":"MICHAEL","middle_name":"JOHN","family_name":"SAMPLE",\
            "date_of_birth":"1986-06-06","document_number":"T64225789","last_four":"5789","jurisdiction":"VA",\
            "country":"USA","expires_on":"2060-12-10"}
            """)

    /// Asks, and gives the id.
    @discardableResult
    func request(
        _ requester: Session, _ to: String, id: String = UUID().uuidString, event: String? = nil
    ) async throws -> String {
        try await context.requestPermission(try .init(id: id, to: to, eventID: event), for: requester).description
    }

    /// Asks by user id.
    @discardableResult
    func request(_ requester: Session, _ other: Session) async throws -> String {
        try await request(requester, other.userID.description)
    }

    /// The rows of an authorization.
    func rows(_ id: String) async throws -> [AuthorizationRow] {
        let id = AuthorizationID(id[...]) ?? AuthorizationID(UUID())
        return try await store.read { try AuthorizationRowRepository($0).list(of: id) }
    }

    /// What a user lists.
    func list(_ session: Session, _ box: String? = nil, _ state: String? = nil) async throws -> [AuthorizationView] {
        try await context.listAuthorizations(try .init(box: box, state: state, cursor: nil), for: session).views
    }

    /// Sets a user's level.
    func setLevel(_ level: Assurance, of session: Session) async throws {
        let user = session.userID
        _ = try await store.write { try UserRepository($0).setAssurance(level, until: nil, of: user) }
    }

    /// What the ban of a user does here.
    @discardableResult
    func ban(_ session: Session) async throws -> Int {
        let user = session.userID
        return try await store.write { transaction in
            try AuthorizationRepository(transaction).withdraw(allOf: user, because: .banned, at: transaction.now)
        }
    }

    /// How many authorizations of a user are open.
    func countOpen(_ session: Session) async throws -> Int {
        let user = session.userID
        return try await store.read { try AuthorizationRepository($0).countOpen(of: user) }
    }

    /// The state that a refusal names, whatever its code.
    func state<Answer: Sendable>(of act: () async throws -> Answer) async -> String? {
        do {
            _ = try await act()
            return nil
        } catch {
            return (error as? Refusal)?.state
        }
    }
}
