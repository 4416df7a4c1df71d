import Authority
import Crypto
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Repositories
import Synchronization
import Tokens

/// The operations over a store of their own, with a clock that tests move.
struct House {
    let store: any Database
    let clock: Clock
    let policy: CurrentPolicy
    let signer: ProviderSigner
    let registration: AdministerProviders.Registration
    let sessions: LiveSessions
    let certificates: LiveCertificates
    let providers: KnownProviders
    let keepHouse: Housekeeping
    let bans: RefuseBanned
    let judge: JudgePeer
    let nonces: IssueNonce
    let certify: CertifyDevice
    let renewCertificate: RenewCertificate
    let revokeCertificate: RevokeCertificate
    let publish: PublishRevocationList
    let personalKeys: PersonalKeys
    let wrappingKey: SymmetricKey
    let indexKey: SymmetricKey
    let open: OpenSession
    let check: CheckSession
    let resume: ResumeSession
    let renew: RenewSession
    let end: EndSession
    let serve: ServeProvider
    let authenticate: AuthenticateProvider
    let providerKeys: ManageProviderKeys
    let webhook: ManageWebhook
    let receive: ReceiveProviderEvent
    let watch: StoreWatch
    let user: ServeUser

    static let realm = "test"

    /// A clock that stands still until it is moved.
    final class Clock: Sendable {
        private let time = Mutex(TestAuthority.referenceTime)
        var now: Date { time.withLock { $0 } }
        func advance(_ seconds: TimeInterval) { time.withLock { $0 += seconds } }
    }

    /// Builds the house over a fresh store and runs a body in it.
    static func inhabit(
        _ policy: Policy = Policy(), on kind: StoreKind = .usual, _ body: (House) async throws -> Void
    ) async throws {
        let clock = Clock()
        var policy = policy
        // Nothing polls here: the view of the store may be as old as the test.
        policy.bans.maximumStaleness = 3600
        let rules = policy
        let now: @Sendable () -> Date = { clock.now }
        try await withStore(kind, migrations: Schema.migrations, clock: now) { store in
            try await body(try await House(store, clock, CurrentPolicy(rules)))
        }
    }

    /// The same house on a copy of its store, or with other keys of personal data, as a service that starts on them.
    func moved(to store: (any Database)? = nil, keys: PersonalKeys? = nil) async throws -> House {
        try await House(store ?? self.store, clock, policy, like: self, keys: keys)
    }

    private init(
        _ store: any Database, _ clock: Clock, _ policy: CurrentPolicy, like other: House? = nil,
        keys: PersonalKeys? = nil
    ) async throws {
        self.store = store
        self.clock = clock
        self.policy = policy
        let surroundings = Surroundings(now: { clock.now })
        if let other {
            (signer, registration) = (other.signer, other.registration)
        } else {
            signer = try ProviderSigner(.es256)
            registration = try await AdministerProviders(
                store: store, surroundings: surroundings, actor: "admin test"
            ).add(name: "Test", slug: nil, account: nil, avatarHosts: [], key: try signer.verificationKey)
        }
        sessions = LiveSessions(store: store)
        certificates = LiveCertificates(store: store)
        providers = KnownProviders(store: store)
        keepHouse = Housekeeping(
            store: store, sessions: sessions, certificates: certificates, policy: policy, surroundings: surroundings)
        let authority = try TestAuthority().authority
        let publish = PublishRevocationList(store: store, authority: authority, surroundings: surroundings)
        self.publish = publish
        watch = StoreWatch(
            store: store, sessions: sessions, certificates: certificates, providers: providers, policy: policy,
            surroundings: surroundings
        ) { _ in publish.suspect() }
        try await watch.poll()
        let secret = Secret([UInt8](repeating: 1, count: 32))
        let generation = try await store.read { try RestoreRecords($0).nonceGeneration() }
        let key = NonceKey(secret, generation: generation)
        bans = RefuseBanned(key: ExportKey(secret, generation: generation))
        let verify = VerifyIdentity(
            realm: Self.realm, providers: providers, nonceKey: key, policy: policy, surroundings: surroundings)
        wrappingKey = other?.wrappingKey ?? SymmetricKey(size: .bits256)
        indexKey = other?.indexKey ?? SymmetricKey(size: .bits256)
        personalKeys = try keys ?? PersonalKeys(wrapping: [1: wrappingKey], index: [1: indexKey])
        let issuing = IssueCertificate(
            authority: authority, baseURL: "https://countersign.example", policy: policy,
            surroundings: surroundings)
        judge = JudgePeer(store: store, certificates: certificates, watch: watch, surroundings: surroundings)
        nonces = IssueNonce(key: key, policy: policy, surroundings: surroundings)
        certify = CertifyDevice(
            store: store, keys: personalKeys, issuing: issuing, providers: providers, watch: watch, realm: Self.realm,
            verifyCaptcha: { $0 == "solved" }, policy: policy, rateLimiting: .on, surroundings: surroundings)
        renewCertificate = RenewCertificate(
            store: store, issuing: issuing, policy: policy, rateLimiting: .on, surroundings: surroundings)
        revokeCertificate = RevokeCertificate(store: store, watch: watch, surroundings: surroundings)
        open = OpenSession(
            store: store, keys: personalKeys, verify: verify, bans: bans, sessions: sessions, policy: policy,
            rateLimiting: .on, surroundings: surroundings)
        check = CheckSession(store: store, sessions: sessions, policy: policy, surroundings: surroundings)
        resume = ResumeSession(
            store: store, check: check, providers: providers, policy: policy, surroundings: surroundings)
        renew = RenewSession(
            store: store, check: check, verify: verify, bans: bans, sessions: sessions, policy: policy,
            surroundings: surroundings)
        end = EndSession(store: store, check: check, sessions: sessions, policy: policy, surroundings: surroundings)
        user = ServeUser(
            store: store, keys: personalKeys, providers: providers, bans: bans, sessions: sessions, policy: policy,
            surroundings: surroundings)
        authenticate = AuthenticateProvider(
            realm: Self.realm, store: store, providers: providers, watch: watch, policy: policy,
            surroundings: surroundings)
        providerKeys = ManageProviderKeys(store: store, watch: watch, surroundings: surroundings)
        webhook = ManageWebhook(store: store, allowingLoopback: false, surroundings: surroundings)
        receive = ReceiveProviderEvent(
            realm: Self.realm, store: store, providers: providers, sessions: sessions, watch: watch, policy: policy,
            surroundings: surroundings)
        serve = ServeProvider(
            realm: Self.realm, store: store, keys: personalKeys, sessions: sessions, nonceKey: key, policy: policy,
            surroundings: surroundings)
    }

    /// A certification request as a device sends it.
    func request(
        wishing name: String = UUID().uuidString, enrolmentToken: String? = nil, captcha: String? = nil,
        address: String = "192.0.2.1"
    ) throws -> CertifyDevice.Request {
        CertifyDevice.Request(
            csr: try TestAuthority.certificationRequest(commonName: name), presenceKey: nil,
            enrolmentToken: enrolmentToken, captcha: captcha, address: address)
    }

    /// A connection of a newly certified device, judged.
    func connectNewDevice() async throws -> ClientConnection {
        try await connect(try await certify(try request()).certificate.thumbprint)
    }

    /// Another connection under a certificate.
    func connect(_ thumbprint: Digest256) async throws -> ClientConnection {
        let connection = ClientConnection(id: ConnectionID(UUID()), thumbprint: thumbprint) {}
        try await judge(connection)
        return connection
    }

    /// The provider's backend, proved by a bearer token of its first key.
    func backend() async throws -> ProvenProvider {
        try await authenticate(
            try signer.providerToken(
                provider: registration.provider.id, kid: registration.keyID, realm: Self.realm, now: clock.now))
    }

    /// A good identity token around a new nonce.
    func identityToken(_ user: String, on connection: ClientConnection) throws -> String {
        try signer.identityToken(
            provider: registration.provider.id, kid: registration.keyID, externalID: user,
            nonce: nonces(connection).nonce, now: clock.now)
    }

    /// A session's opening by a user.
    func opened(_ user: String, on connection: ClientConnection) async throws -> OpenedSession {
        try await open(
            identityToken: try identityToken(user, on: connection), applicationID: nil, on: connection)
    }
}
