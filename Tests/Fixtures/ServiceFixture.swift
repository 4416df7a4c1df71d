import Authority
import Crypto
import Database
import Domain
import Encoding
import Foundation
import Operations
import Repositories
import Synchronization
import Tokens

/// The operations over a store of their own, with a clock that tests move.
package struct ServiceFixture: Sendable {
    package let store: any Database
    package let clock: Clock
    package let policy: CurrentPolicy
    package let signer: ProviderSigner
    package let registration: Administration.ProviderRegistration
    package let sessions: SessionCache
    package let certificates: CertificateCache
    package let providers: ProviderCache
    package let housekeeping: Housekeeping
    package let context: Service
    package let admin: Administration
    package let revokeCertificate: RevocationCalls
    package let publish: PublishRevocationList
    package let personalKeys: PersonalKeys
    package let wrappingKey: SymmetricKey
    package let indexKey: SymmetricKey
    package let watch: CacheInvalidator
    package let issuers = StandInIssuers()
    package let wallet: StandInWallet

    package static let realm = "test"
    package static let urls = ServiceURLs(
        publicURL: { "https://public.example" }, clientURL: { "https://client.example" })
    /// One for all tests: it takes its time.
    package static let accessTokens = (try? AccessTokenKeys.generate().reveal()).flatMap {
        AccessTokenKeys(pem: $0, others: [], curve: P256.Signing.PrivateKey())
    }

    /// A clock that stands still until it is moved.
    package final class Clock: Sendable {
        private let time = Mutex(TestAuthority.referenceTime)

        package init() {}

        package var now: Date { time.withLock { $0 } }
        package func advance(_ seconds: TimeInterval) { time.withLock { $0 += seconds } }
    }

    /// Builds the fixture over a fresh store and runs a body in it.
    ///
    /// - Parameter randomBytes: a source of bytes that can be wound back; the real one where there is none.
    package static func run(
        _ policy: Policy = Policy(), on kind: StoreKind = .usual,
        randomBytes: (@Sendable (Int) -> [UInt8])? = nil, _ body: (ServiceFixture) async throws -> Void
    ) async throws {
        let clock = Clock()
        var policy = policy
        // Nothing polls here: the view of the store may be as old as the test.
        policy.bans.maximumStaleness = 3600
        let rules = policy
        let now: @Sendable () -> Date = { clock.now }
        try await withStore(kind, migrations: Schema.migrations, clock: now) { store in
            try await body(try await ServiceFixture(store, clock, CurrentPolicy(rules), randomBytes: randomBytes))
        }
    }

    /// Builds the fixture like ``run(_:on:randomBytes:_:)``, with contexts of some nodes which have a store in common.
    package static func run(
        _ policy: Policy = Policy(), on kind: StoreKind, nodes: Int,
        _ body: (ServiceFixture, [Service]) async throws -> Void
    ) async throws {
        let clock = Clock()
        var policy = policy
        policy.bans.maximumStaleness = 3600
        let rules = policy
        let now: @Sendable () -> Date = { clock.now }
        try await withStores(kind, count: nodes, migrations: Schema.migrations, clock: now) { stores in
            let fixture = try await ServiceFixture(stores[0], clock, CurrentPolicy(rules))
            let contexts = stores.map { fixture.context(store: $0, node: ServingNode(caches: Caches(store: $0))) }
            for context in contexts { try await context.invalidator.poll() }
            try await body(fixture, contexts)
        }
    }

    /// The same fixture on a copy of its store, or with other keys of personal data, as a service that starts on them.
    package func moved(to store: (any Database)? = nil, keys: PersonalKeys? = nil) async throws -> ServiceFixture {
        try await ServiceFixture(store ?? self.store, clock, policy, like: self, keys: keys)
    }

    private init(
        _ store: any Database, _ clock: Clock, _ policy: CurrentPolicy, like other: ServiceFixture? = nil,
        keys: PersonalKeys? = nil, randomBytes: (@Sendable (Int) -> [UInt8])? = nil
    ) async throws {
        self.store = store
        self.clock = clock
        self.policy = policy
        let now: @Sendable () -> Date = { clock.now }
        let environment = randomBytes.map { Environment(now: now, randomBytes: $0) } ?? Environment(now: now)
        wrappingKey = other?.wrappingKey ?? SymmetricKey(size: .bits256)
        indexKey = other?.indexKey ?? SymmetricKey(size: .bits256)
        let personalKeys = try keys ?? PersonalKeys(wrapping: [1: wrappingKey], index: [1: indexKey])
        self.personalKeys = personalKeys
        admin = Administration(store: store, environment: environment, actor: "admin test") { personalKeys }
        wallet = try other?.wallet ?? StandInWallet()
        if let other {
            (signer, registration) = (other.signer, other.registration)
        } else {
            signer = try ProviderSigner(.es256)
            registration = try await admin.addProvider(
                name: "Test", slug: nil, account: nil, avatarHosts: [], key: try signer.verificationKey)
        }
        let authority = try other?.context.keys.authority ?? TestAuthority().authority
        let publish = PublishRevocationList(store: store, authority: authority, environment: environment)
        self.publish = publish
        let node = ServingNode(caches: Caches(store: store), onDeviceChange: { _ in publish.suspect() })
        (sessions, certificates, providers) = (node.caches.sessions, node.caches.certificates, node.caches.providers)
        watch = CacheInvalidator(store: store, node: node, policy: policy, environment: environment)
        try await watch.poll()
        let secret = Secret([UInt8](repeating: 1, count: 32))
        let generation = try await store.read { try RestoreRepository($0).nonceGeneration() }
        guard let codes = PhoneCodeKeys([1: Secret([UInt8](repeating: 9, count: 32))]),
            let accessTokens = Self.accessTokens
        else {
            throw Refusal(.unavailable, "no key")
        }
        let context = Service(
            realm: Self.realm, urls: Self.urls,
            keys: ServiceKeys(
                personal: personalKeys, phoneCodes: codes, nonces: NonceKey(secret, generation: generation),
                exports: ExportKey(secret, generation: generation), accessTokens: accessTokens, authority: authority,
                otherAuthorities: []),
            rateLimiting: .on, node: node, invalidator: watch, wallet: wallet.verification(now: now),
            readKeySet: issuers.read)
        self.context = context
        housekeeping = Housekeeping(context)
        revokeCertificate = RevocationCalls(context, admin)
    }

    /// The same context with something else in it: other keys, a store that misbehaves, another node on the store.
    ///
    /// - Parameter ahead: how many seconds its clock is ahead.
    package func context(
        rateLimiting: RateLimiting = .on, keys: PersonalKeys? = nil, store: (any Database)? = nil,
        ahead: TimeInterval = 0, node: ServingNode? = nil, development: DevelopmentMode? = nil,
        wallet other: Wallet? = nil, attestation: AttestationVerifier = .published
    ) -> Service {
        let (clock, old) = (clock, context.keys)
        let invalidator = CacheInvalidator(
            store: store ?? self.store, node: node ?? context.node, policy: policy,
            environment: Environment(now: { clock.now + ahead }))
        return Service(
            realm: Self.realm, urls: Self.urls,
            keys: ServiceKeys(
                personal: keys ?? old.personal, phoneCodes: old.phoneCodes, nonces: old.nonces, exports: old.exports,
                accessTokens: old.accessTokens, authority: old.authority, otherAuthorities: old.otherAuthorities),
            rateLimiting: rateLimiting, node: node ?? context.node, invalidator: invalidator, development: development,
            wallet: other ?? wallet.verification(now: { clock.now + ahead }), attestation: attestation,
            readKeySet: issuers.read)
    }

    /// Administration by a process with other keys of personal data.
    package func admin(_ keys: PersonalKeys) -> Administration {
        Administration(store: store, environment: admin.environment, actor: admin.actor) { keys }
    }

    /// A certification request as a device sends it.
    package func request(
        wishing name: String = UUID().uuidString, enrolmentToken: String? = nil, captcha: String? = nil,
        address: String = "192.0.2.1"
    ) throws -> Service.DeviceRequest {
        Service.DeviceRequest(
            csr: try TestAuthority.certificationRequest(commonName: name), presenceKey: nil,
            enrolmentToken: enrolmentToken, captcha: captcha, address: address)
    }

    /// Certifies a device. Its captcha is right if it says "solved".
    package func certify(_ request: Service.DeviceRequest) async throws -> CertifiedDevice {
        try await context.certifyDevice(request) { $0 == "solved" }
    }

    /// A connection of a newly certified device, judged.
    package func connectNewDevice() async throws -> ClientConnection {
        try await connect(try await certify(try request()).certificate.thumbprint)
    }

    /// Another connection under a certificate.
    package func connect(_ thumbprint: Digest256) async throws -> ClientConnection {
        let connection = ClientConnection(id: context.environment.newIdentifier(), thumbprint: thumbprint) {}
        try await context.authenticate(connection)
        return connection
    }

    /// A connection under a certificate, at the time of its renewal.
    package func connectForRenewal(_ certificate: DeviceCertificate) async throws -> ClientConnection {
        let connection = try await connect(certificate.thumbprint)
        clock.advance(certificate.renewAfter.timeIntervalSince(clock.now))
        return connection
    }

    /// The provider's backend, proved by a bearer token of its first key.
    package func backend() async throws -> Service.ProvenProvider {
        try await context.authenticateProvider(
            try signer.providerToken(
                provider: registration.provider.id, kid: registration.keyID, realm: Self.realm, now: clock.now),
            for: nil, in: ProvenRequest(method: "GET", path: "/provider", body: []), at: .free)
    }

    /// A fresh proof of the provider's; `nil` for its first key.
    package func proof(of other: ProviderSigner? = nil, _ key: ProviderKeyID? = nil) async throws -> Service.FreshProof
    {
        try await context.proof(
            of: other ?? signer, key ?? registration.keyID, registration.provider.id, clock.now)
    }

    /// A good identity token around a new nonce.
    package func identityToken(_ user: String, on connection: ClientConnection) throws -> String {
        try signer.identityToken(
            provider: registration.provider.id, kid: registration.keyID, externalID: user,
            nonce: context.issueNonce(connection).nonce, now: clock.now)
    }

    /// A session's opening by a user.
    package func opened(_ user: String, on connection: ClientConnection) async throws -> Service.OpenedSession {
        try await context.openSession(
            identityToken: try identityToken(user, on: connection), applicationID: nil, on: connection)
    }
}
