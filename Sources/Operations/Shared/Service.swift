import Authority
import Database
import Delivery
import Domain
import Foundation
import Repositories
import Tokens

/// The secrets that sign, seal and open the service's data. It is a class, because the body of each transaction copies
/// the service, and then copies only one reference.
package final class ServiceKeys: Sendable {
    /// The keys that seal personal data.
    package let personal: PersonalKeys
    package let phoneCodes: PhoneCodeKeys
    package let nonces: NonceKey
    package let exports: ExportKey
    package let accessTokens: AccessTokenKeys
    /// The authority that signs the certificates of devices.
    package let authority: CertificateAuthority
    /// The authorities of a rotation: the next one and the former one.
    package let otherAuthorities: [CertificateAuthority]

    package init(
        personal: PersonalKeys, phoneCodes: PhoneCodeKeys, nonces: NonceKey, exports: ExportKey,
        accessTokens: AccessTokenKeys, authority: CertificateAuthority, otherAuthorities: [CertificateAuthority]
    ) {
        self.personal = personal
        self.phoneCodes = phoneCodes
        self.nonces = nonces
        self.exports = exports
        self.accessTokens = accessTokens
        self.authority = authority
        self.otherAuthorities = otherAuthorities
    }
}

/// The operations of a node for apps and providers. Each is a method, in the folder of its feature.
///
/// Operations access the store by four verbs: ``read(_:)``, ``write(inTurn:_:)``, ``act(for:inTurn:ahead:_:)`` and
/// ``share(_:events:)``.
package struct Service: Sendable {
    package let realm: String
    package let urls: ServiceURLs
    let store: any Database
    package let keys: ServiceKeys
    package let policy: CurrentPolicy
    package let rateLimiting: RateLimiting
    package let environment: Environment
    package let node: ServingNode
    package let invalidator: CacheInvalidator
    /// `nil` unless only the service's developer uses it.
    let development: DevelopmentMode?
    /// Fetches the key set of an issuer.
    let readKeySet: KeySetReader.Read
    /// What verifies wallets; `nil` if the service accepts none.
    let wallet: Wallet?
    /// Verifies attestations of keys, with the roots of the devices' makers.
    let attestation: AttestationVerifier

    /// Makes a service of its parts.
    ///
    /// - Parameters:
    ///   - invalidator: keeps the node's caches consistent with the store.
    ///   - wallet: what verifies wallets.
    ///   - attestation: verifies attestations of keys.
    ///   - readKeySet: fetches the key set of an issuer; by default no issuer can be reached.
    package init(
        realm: String, urls: ServiceURLs, keys: ServiceKeys, rateLimiting: RateLimiting, node: ServingNode,
        invalidator: CacheInvalidator, development: DevelopmentMode? = nil, wallet: Wallet? = nil,
        attestation: AttestationVerifier = .published,
        readKeySet: @escaping KeySetReader.Read = { _ in .failed(reason: "this process reads no issuer") }
    ) {
        self.readKeySet = readKeySet
        self.wallet = wallet
        self.attestation = attestation
        self.realm = realm
        self.urls = urls
        self.keys = keys
        self.rateLimiting = rateLimiting
        self.node = node
        self.invalidator = invalidator
        self.development = development
        store = invalidator.store
        policy = invalidator.policy
        environment = invalidator.environment
    }

    var caches: Caches { node.caches }

    /// Reads in one snapshot.
    ///
    /// - Throws: `Refusal` `unavailable`; what the body throws.
    func read<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await store.snapshot(body)
    }

    /// Writes in one serializable transaction. The consequences of the recorded events are part of the transaction, or
    /// are applied after the commit.
    ///
    /// - Parameter turn: the turn of writers that read and change the same rows.
    /// - Throws: `Refusal` `unavailable`; what the body throws.
    @discardableResult
    func write<T: Sendable>(
        inTurn turn: Turn? = nil, _ body: @Sendable @escaping (any Transaction, inout RecordedEvents) throws -> T
    ) async throws -> T {
        try await Commit(store: store, lane: .usual, turn: turn, environment: environment, node: node)(body)
    }

    /// Runs one statement that shares a transaction with others, and applies the consequences after its commit.
    ///
    /// The statement decides by itself, and inserts the change notices of its events. Use it for events without an
    /// audit entry that cause no security event for a provider.
    ///
    /// - Parameters:
    ///   - statement: returns `nil` if it changed nothing and a transaction must decide.
    ///   - events: the events of the statement's change.
    /// - Throws: `Refusal` `unavailable`; what the statement throws.
    func share<T: Sendable>(
        _ statement: (any Database) async throws -> T?, events: (T) -> [DomainEvent]
    ) async throws -> T? {
        let mark = caches.sessions.mark
        guard let done = try await store.reached({ try await statement(store) }) else { return nil }
        try await node.apply(Commit.Aftermath(of: events(done)), since: mark)
        return done
    }

    /// Writes like ``write(inTurn:_:)``, but only maintains rows: see `Database/maintain(_:)`.
    ///
    /// - Throws: `Refusal` `unavailable`; what the body throws.
    @discardableResult
    func maintain<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction, inout RecordedEvents) throws -> T
    ) async throws -> T {
        try await Commit(store: store, lane: .usual, environment: environment, node: node).maintain(body)
    }
}
