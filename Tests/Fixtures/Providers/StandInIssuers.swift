import Delivery
import Domain
import Encoding
import Foundation
import Operations
import Synchronization
import Tokens

/// Key sets of issuers as a test says that they are read, and how often they were.
package final class StandInIssuers: Sendable {
    private struct State {
        var readings: [String: KeySetReader.Reading] = [:]
        var counts: [String: Int] = [:]
        var hold: (@Sendable () async -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    package var read: KeySetReader.Read {
        { [self] issuer in
            let hold = state.withLock { state in
                state.counts[issuer, default: 0] += 1
                return state.hold
            }
            await hold?()
            return state.withLock { $0.readings[issuer] } ?? .failed(reason: "no connection")
        }
    }

    /// What the next readings of an issuer come to.
    package func set(_ reading: KeySetReader.Reading, for issuer: String) {
        state.withLock { $0.readings[issuer] = reading }
    }

    /// The next readings of an issuer come to nothing.
    package func fail(_ issuer: String) { set(.failed(reason: "no connection"), for: issuer) }

    /// The next readings of an issuer come to this.
    package func serve(_ keySet: String, for issuer: String) {
        set(.read(keySet: Array(keySet.utf8), cacheControl: nil), for: issuer)
    }

    /// Something that every reading waits for.
    package func hold(_ wait: (@Sendable () async -> Void)?) { state.withLock { $0.hold = wait } }

    /// How often an issuer was read.
    package func count(_ issuer: String) -> Int { state.withLock { $0.counts[issuer] ?? 0 } }
}

/// An OpenID provider, as far as its ID tokens go.
package struct StandInIssuer: Sendable {
    package let url: String
    package let audience: String
    /// Further audiences of the provider.
    package var otherAudiences: [String] = []
    /// The clients that may request ID tokens; any if empty.
    package var parties: [String] = []
    /// Its keys by `kid`, in the order of its key set. An empty `kid` is left out.
    package var keys: [(kid: String, signer: ProviderSigner)]

    package init(
        _ keys: [(String, ProviderSigner)], at url: String = "https://idp.example", audience: String = "client-1"
    ) {
        (self.url, self.audience) = (url, audience)
        self.keys = keys.map { (kid: $0.0, signer: $0.1) }
    }

    /// The key set (RFC 7517 §5).
    package var keySet: [UInt8] {
        get throws {
            let keys = try keys.map { key -> JSONValue in
                guard case .object(let members) = try key.signer.verificationKey.publicKey.numbers.webKey else {
                    return .null
                }
                let kid = key.kid.isEmpty ? [] : [JSONMember(name: "kid", value: .string(key.kid))]
                return .object(
                    members + kid + [
                        JSONMember(name: "alg", value: .string(key.signer.algorithm.rawValue)),
                        JSONMember(name: "use", value: .string("sig")),
                    ])
            }
            return Array(JSONValue.object(["keys": .array(keys)]).jsonText.utf8)
        }
    }

    /// Shows its key set to whoever reads it from now on.
    package func publish(on fixture: ServiceFixture, cacheControl: String? = "max-age=600") throws {
        fixture.issuers.set(.read(keySet: try keySet, cacheControl: cacheControl), for: url)
    }

    /// Publishes its key set and registers it.
    package func register(
        on fixture: ServiceFixture, algorithms: [String] = SignatureAlgorithm.allCases.map(\.rawValue),
        endingSessions: Bool = false, avatarHosts: [String] = [], slug: String? = nil
    ) async throws -> (provider: Provider, applicationID: ApplicationID, keyCount: Int) {
        try publish(on: fixture)
        return try await fixture.admin.addIssuer(
            ProviderIssuer(
                url: url, audience: audience, otherAudiences: otherAudiences, parties: parties,
                algorithms: algorithms, endsSessionsOfRemovedKeys: endingSessions),
            name: nil, slug: slug.flatMap { Slug($0) }, account: nil, avatarHosts: avatarHosts,
            readKeySet: fixture.issuers.read)
    }

    /// A good ID token before it is signed.
    package func draft(_ user: String, nonce: String, now: Date, kid: String? = nil) -> TokenDraft {
        let key = keys.first { kid == nil || $0.kid == kid }
        var draft = TokenDraft(header: [
            JSONMember(name: "typ", value: .string("JWT")),
            JSONMember(name: "alg", value: .string(key?.signer.algorithm.rawValue ?? "")),
            JSONMember(name: "kid", value: .string(key?.kid ?? kid ?? "")),
        ])
        if key?.kid.isEmpty ?? false { draft[header: "kid"] = nil }
        draft[claim: "iss"] = .string(url)
        draft[claim: "sub"] = .string(user)
        draft[claim: "aud"] = .string(audience)
        draft[claim: "nonce"] = .string(nonce)
        draft.lives(from: now, for: 3600)
        return draft
    }

    /// An ID token, good but for what is changed in it.
    package func idToken(
        _ user: String, nonce: String, now: Date, kid: String? = nil, edit: (inout TokenDraft) -> Void = { _ in }
    ) throws -> String {
        var draft = draft(user, nonce: nonce, now: now, kid: kid)
        edit(&draft)
        guard let key = keys.first(where: { kid == nil || $0.kid == kid }) else {
            throw Refusal(.malformedRequest, "no such key")
        }
        return try key.signer.sign(draft)
    }
}
