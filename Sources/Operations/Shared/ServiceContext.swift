import Database
import Delivery
import Domain
import Foundation
import Repositories
import Tokens

/// The secrets by which the service makes and opens what it hands out.
package struct ServiceKeys: Sendable {
    /// What personal data lies under.
    package let personal: PersonalKeys
    package let phoneCodes: PhoneCodeKeys
    package let nonces: NonceKey
    package let exports: ExportKey
    package let accessTokens: AccessTokenKeys

    package init(
        personal: PersonalKeys, phoneCodes: PhoneCodeKeys, nonces: NonceKey, exports: ExportKey,
        accessTokens: AccessTokenKeys
    ) {
        self.personal = personal
        self.phoneCodes = phoneCodes
        self.nonces = nonces
        self.exports = exports
        self.accessTokens = accessTokens
    }
}

/// What the operations of a serving process have in common.
package struct ServiceContext: Sendable {
    package let realm: String
    package let urls: ServiceURLs
    package let store: any Database
    package let keys: ServiceKeys
    package let policy: CurrentPolicy
    package let rateLimiting: RateLimiting
    package let environment: Environment
    package let node: ServingNode
    package let invalidator: CacheInvalidator
    /// `nil` for a service that serves anybody but its developer.
    package let development: DevelopmentMode?
    /// Reads the key set of an issuer.
    let readKeySet: KeySetReader.Read

    /// Joins the parts.
    ///
    /// - Parameters:
    ///   - invalidator: keeps the memories of the node coherent with the store.
    ///   - readKeySet: reads the key set of an issuer; no issuer can be reached by default.
    package init(
        realm: String, urls: ServiceURLs, keys: ServiceKeys, rateLimiting: RateLimiting, node: ServingNode,
        invalidator: CacheInvalidator, development: DevelopmentMode? = nil,
        readKeySet: @escaping KeySetReader.Read = { _ in .failed(reason: "this process reads no issuer") }
    ) {
        self.readKeySet = readKeySet
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

    /// Runs a body in a transaction, in one line with other requests; what follows from the events that it records is
    /// done with it and after it.
    ///
    /// - Parameter turn: what it has in common with others that read and change the same rows.
    /// - Throws: `Refusal` `unavailable`; what the body throws.
    @discardableResult
    func commit<T: Sendable>(
        inTurn turn: Turn? = nil, _ body: @Sendable @escaping (any Transaction, inout RecordedEvents) throws -> T
    ) async throws -> T {
        try await Commit(store: store, lane: .usual, turn: turn, environment: environment, node: node)(body)
    }

    /// Runs a body like ``commit(inTurn:_:)`` that maintains rows: see `Database/maintain(_:)`.
    ///
    /// - Throws: `Refusal` `unavailable`; what the body throws.
    @discardableResult
    func maintain<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction, inout RecordedEvents) throws -> T
    ) async throws -> T {
        try await Commit(store: store, lane: .usual, environment: environment, node: node).maintain(body)
    }
}

/// What the operations of an admin's command have in common.
package struct AdminContext: Sendable {
    package let store: any Database
    package let environment: Environment
    /// In whose name, as the audit log says it.
    package let actor: String

    package init(store: any Database, environment: Environment, actor: String) {
        self.store = store
        self.environment = environment
        self.actor = actor
    }

    /// Runs a body in a transaction, past a crowd of requests; what follows from the events that it records is done with
    /// it, and by the nodes that serve the store.
    ///
    /// - Throws: `Refusal` `unavailable`; what the body throws.
    @discardableResult
    func commit<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction, inout RecordedEvents) throws -> T
    ) async throws -> T {
        try await Commit(store: store, lane: .administration, environment: environment, node: nil)(body)
    }
}
