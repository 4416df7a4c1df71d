import Domain
import Fixtures
import Foundation
import Testing

@testable import Tokens

/// A provider with one registered key, and the service that knows it: what most tests here begin with.
struct RegisteredProvider: Sendable {
    static let realm = "chat.example"
    static let now = Date(timeIntervalSince1970: 1_780_000_000)
    static let seconds: Int64 = 1_780_000_000

    /// RSA keys cost a second each: the tests share one for each algorithm.
    private static let signers: [SignatureAlgorithm: Result<ProviderSigner, any Error>] = Dictionary(
        uniqueKeysWithValues: SignatureAlgorithm.allCases.map { algorithm in
            (algorithm, Result { try ProviderSigner(algorithm) })
        })

    static func signer(_ algorithm: SignatureAlgorithm) throws -> ProviderSigner {
        try #require(signers[algorithm]).get()
    }

    let signer: ProviderSigner
    var provider: Provider
    var key: RegisteredKey
    var verifier = IdentityTokenVerifier(realm: realm)

    init(_ algorithm: SignatureAlgorithm = .es256, signer: ProviderSigner? = nil) throws {
        self.signer = try signer ?? Self.signer(algorithm)
        provider = Provider(
            id: ProviderID(UUID()), slug: try #require(Slug("acme")), name: "Acme", account: nil,
            avatarHosts: ["img.acme.example"], createdAt: Self.now, disabledAt: nil)
        key = try self.signer.registered(as: ProviderKeyID(UUID()), for: provider.id)
    }

    /// A good identity token, bent by `edit` before it is signed.
    func token(_ edit: (inout TokenDraft) -> Void = { _ in }) throws -> String {
        try signer.identityToken(
            provider: provider.id, kid: key.id, externalID: "anna", nonce: "n-1", now: Self.now, edit: edit)
    }

    /// Looks up what a token names, as the service does.
    func found(for token: UnverifiedToken) -> (Provider?, RegisteredKey?) {
        (token.issuer == provider.id ? provider : nil, token.keyID == key.id ? key : nil)
    }

    /// Reads and judges a token, as the service does.
    @discardableResult
    func verify(_ compact: String, now: Date = now) throws -> IdentityToken {
        let token = try UnverifiedToken(compact)
        let (provider, key) = found(for: token)
        return try verifier.verify(token, provider: provider, key: key, now: now)
    }
}

/// The refusal of an identity token by a reason; refusals are equal by code and reason.
func refusal(_ reason: Refusal.Reason) -> Refusal {
    Refusal(.invalidIdentityToken, "", reason: reason)
}

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers for the same seed, everywhere.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }
}
