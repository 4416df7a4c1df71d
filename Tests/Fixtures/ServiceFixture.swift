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
    package let registration: AdministerProviders.Registration
    package let sessions: SessionCache
    package let certificates: CertificateCache
    package let providers: ProviderCache
    package let housekeeping: Housekeeping
    package let bans: RefuseBanned
    package let judge: AuthenticateConnection
    package let nonces: IssueNonce
    package let certify: CertifyDevice
    package let renewCertificate: RenewCertificate
    package let revokeCertificate: RevokeCertificate
    package let publish: PublishRevocationList
    package let personalKeys: PersonalKeys
    package let wrappingKey: SymmetricKey
    package let indexKey: SymmetricKey
    package let open: OpenSession
    package let check: CheckSession
    package let resume: ResumeSession
    package let renew: RenewSession
    package let end: EndSession
    package let serve: ServeProvider
    package let authenticate: AuthenticateProvider
    package let providerKeys: ManageProviderKeys
    package let webhook: ManageWebhook
    package let receive: ReceiveProviderEvent
    package let watch: CacheInvalidator
    package let user: ServeUser

    package static let realm = "test"

    /// A clock that stands still until it is moved.
    package final class Clock: Sendable {
        private let time = Mutex(TestAuthority.referenceTime)

        package init() {}

        package var now: Date { time.withLock { $0 } }
        package func advance(_ seconds: TimeInterval) { time.withLock { $0 += seconds } }
    }

    /// Builds the fixture over a fresh store and runs a body in it.
    package static func run(
        _ policy: Policy = Policy(), on kind: StoreKind = .usual, _ body: (ServiceFixture) async throws -> Void
    ) async throws {
        let clock = Clock()
        var policy = policy
        // Nothing polls here: the view of the store may be as old as the test.
        policy.bans.maximumStaleness = 3600
        let rules = policy
        let now: @Sendable () -> Date = { clock.now }
        try await withStore(kind, migrations: Schema.migrations, clock: now) { store in
            try await body(try await ServiceFixture(store, clock, CurrentPolicy(rules)))
        }
    }

    /// The same fixture on a copy of its store, or with other keys of personal data, as a service that starts on them.
    package func moved(to store: (any Database)? = nil, keys: PersonalKeys? = nil) async throws -> ServiceFixture {
        try await ServiceFixture(store ?? self.store, clock, policy, like: self, keys: keys)
    }

    private init(
        _ store: any Database, _ clock: Clock, _ policy: CurrentPolicy, like other: ServiceFixture? = nil,
        keys: PersonalKeys? = nil
    ) async throws {
        self.store = store
        self.clock = clock
        self.policy = policy
        let environment = Environment(now: { clock.now })
        if let other {
            (signer, registration) = (other.signer, other.registration)
        } else {
            signer = try ProviderSigner(.es256)
            registration = try await AdministerProviders(
                store: store, environment: environment, actor: "admin test"
            ).add(name: "Test", slug: nil, account: nil, avatarHosts: [], key: try signer.verificationKey)
        }
        sessions = SessionCache(store: store)
        certificates = CertificateCache(store: store)
        providers = ProviderCache(store: store)
        housekeeping = Housekeeping(
            store: store, sessions: sessions, certificates: certificates, policy: policy, environment: environment)
        let authority = try TestAuthority().authority
        let publish = PublishRevocationList(store: store, authority: authority, environment: environment)
        self.publish = publish
        watch = CacheInvalidator(
            store: store, sessions: sessions, certificates: certificates, providers: providers, policy: policy,
            environment: environment
        ) { _ in publish.suspect() }
        try await watch.poll()
        let secret = Secret([UInt8](repeating: 1, count: 32))
        let generation = try await store.read { try RestoreRepository($0).nonceGeneration() }
        let key = NonceKey(secret, generation: generation)
        bans = RefuseBanned(key: ExportKey(secret, generation: generation))
        let verify = VerifyIdentity(
            realm: Self.realm, providers: providers, nonceKey: key, policy: policy, environment: environment)
        wrappingKey = other?.wrappingKey ?? SymmetricKey(size: .bits256)
        indexKey = other?.indexKey ?? SymmetricKey(size: .bits256)
        personalKeys = try keys ?? PersonalKeys(wrapping: [1: wrappingKey], index: [1: indexKey])
        let issuing = IssueCertificate(
            authority: authority, baseURL: "https://countersign.example", policy: policy,
            environment: environment)
        judge = AuthenticateConnection(store: store, certificates: certificates, watch: watch, environment: environment)
        nonces = IssueNonce(key: key, policy: policy, environment: environment)
        certify = CertifyDevice(
            store: store, keys: personalKeys, issuing: issuing, providers: providers, watch: watch, realm: Self.realm,
            verifyCaptcha: { $0 == "solved" }, policy: policy, rateLimiting: .on, environment: environment)
        renewCertificate = RenewCertificate(
            store: store, issuing: issuing, policy: policy, rateLimiting: .on, environment: environment)
        revokeCertificate = RevokeCertificate(store: store, watch: watch, environment: environment)
        open = OpenSession(
            store: store, keys: personalKeys, verify: verify, bans: bans, sessions: sessions, policy: policy,
            rateLimiting: .on, environment: environment)
        check = CheckSession(store: store, sessions: sessions, policy: policy, environment: environment)
        resume = ResumeSession(
            store: store, check: check, providers: providers, policy: policy, environment: environment)
        renew = RenewSession(
            store: store, check: check, verify: verify, bans: bans, sessions: sessions, policy: policy,
            environment: environment)
        end = EndSession(store: store, check: check, sessions: sessions, policy: policy, environment: environment)
        user = ServeUser(
            store: store, keys: personalKeys, providers: providers, bans: bans, sessions: sessions, policy: policy,
            environment: environment)
        authenticate = AuthenticateProvider(
            realm: Self.realm, store: store, providers: providers, watch: watch, policy: policy,
            environment: environment)
        providerKeys = ManageProviderKeys(store: store, watch: watch, environment: environment)
        webhook = ManageWebhook(store: store, allowingLoopback: false, environment: environment)
        receive = ReceiveProviderEvent(
            realm: Self.realm, store: store, providers: providers, sessions: sessions, watch: watch, policy: policy,
            environment: environment)
        serve = ServeProvider(
            realm: Self.realm, store: store, keys: personalKeys, sessions: sessions, nonceKey: key, policy: policy,
            environment: environment)
    }

    /// A certification request as a device sends it.
    package func request(
        wishing name: String = UUID().uuidString, enrolmentToken: String? = nil, captcha: String? = nil,
        address: String = "192.0.2.1"
    ) throws -> CertifyDevice.Request {
        CertifyDevice.Request(
            csr: try TestAuthority.certificationRequest(commonName: name), presenceKey: nil,
            enrolmentToken: enrolmentToken, captcha: captcha, address: address)
    }

    /// A connection of a newly certified device, judged.
    package func connectNewDevice() async throws -> ClientConnection {
        try await connect(try await certify(try request()).certificate.thumbprint)
    }

    /// Another connection under a certificate.
    package func connect(_ thumbprint: Digest256) async throws -> ClientConnection {
        let connection = ClientConnection(id: ConnectionID(UUID()), thumbprint: thumbprint) {}
        try await judge(connection)
        return connection
    }

    /// The provider's backend, proved by a bearer token of its first key.
    package func backend() async throws -> ProvenProvider {
        try await authenticate(
            try signer.providerToken(
                provider: registration.provider.id, kid: registration.keyID, realm: Self.realm, now: clock.now))
    }

    /// A good identity token around a new nonce.
    package func identityToken(_ user: String, on connection: ClientConnection) throws -> String {
        try signer.identityToken(
            provider: registration.provider.id, kid: registration.keyID, externalID: user,
            nonce: nonces(connection).nonce, now: clock.now)
    }

    /// A session's opening by a user.
    package func opened(_ user: String, on connection: ClientConnection) async throws -> OpenedSession {
        try await open(
            identityToken: try identityToken(user, on: connection), applicationID: nil, on: connection)
    }
}
