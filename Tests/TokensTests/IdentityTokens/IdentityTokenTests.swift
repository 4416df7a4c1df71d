import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Tokens

/// One way to bend a good identity token, and the word by which it must be refused.
struct Bend: Sendable, CustomTestStringConvertible {
    let name: String
    let reason: Refusal.Reason
    let edit: @Sendable (inout TokenDraft) -> Void

    init(_ name: String, _ reason: Refusal.Reason, _ edit: @escaping @Sendable (inout TokenDraft) -> Void) {
        self.name = name
        self.reason = reason
        self.edit = edit
    }

    var testDescription: String { "\(name): \(reason.rawValue)" }

    private static let now = RegisteredProvider.seconds

    static let all: [Bend] = [
        Bend("crit", .unsupportedHeader) { $0[header: "crit"] = .array([.string("exp")]) },
        Bend("a key of its own", .unsupportedHeader) { $0[header: "jwk"] = .object([]) },
        Bend("no typ", .wrongType) { $0[header: "typ"] = nil },
        Bend("another typ", .wrongType) { $0[header: "typ"] = .string("JWE") },
        Bend("no cty", .wrongType) { $0[header: "cty"] = nil },
        Bend("a provider token's cty", .wrongType) { $0[header: "cty"] = .string("layer-provider;v=1") },
        Bend("a cty that only looks right", .wrongType) { $0[header: "cty"] = .string("layer-eit\u{37E}v=1") },
        Bend("no iss", .missingClaim) { $0[claim: "iss"] = nil },
        Bend("iss that is no string", .malformed) { $0[claim: "iss"] = .integer(1) },
        Bend("an iss that nobody has", .unknownIssuer) { $0[claim: "iss"] = .string(UUID().uuidString) },
        Bend("an iss that is no id", .unknownIssuer) { $0[claim: "iss"] = .string("acme") },
        Bend("no kid", .unknownKey) { $0[header: "kid"] = nil },
        Bend("another kid", .unknownKey) { $0[header: "kid"] = .string(UUID().uuidString) },
        Bend("alg none", .algorithmMismatch) { $0[header: "alg"] = .string("none") },
        Bend("alg HS256", .algorithmMismatch) { $0[header: "alg"] = .string("HS256") },
        Bend("alg of another key type", .algorithmMismatch) { $0[header: "alg"] = .string("RS256") },
        Bend("alg in small letters", .algorithmMismatch) { $0[header: "alg"] = .string("es256") },
        Bend("no prn", .missingClaim) { $0[claim: "prn"] = nil },
        Bend("an empty prn", .malformed) { $0[claim: "prn"] = .string("") },
        Bend("a prn of 257 bytes", .malformed) { $0[claim: "prn"] = .string(String(repeating: "a", count: 257)) },
        Bend("a prn that is a number", .malformed) { $0[claim: "prn"] = .integer(7) },
        Bend("a prn with a NUL", .malformed) { $0[claim: "prn"] = .string("a\0b") },
        Bend("a prn with a C1 control", .malformed) { $0[claim: "prn"] = .string("a\u{9B}b") },
        Bend("a prn with a direction mark", .malformed) { $0[claim: "prn"] = .string("a\u{202E}b") },
        Bend("a prn with a zero width space", .malformed) { $0[claim: "prn"] = .string("a\u{200B}b") },
        Bend("prn and sub that differ", .malformed) { $0[claim: "sub"] = .string("anne") },
        Bend("prn and sub that only look equal", .malformed) {
            $0[claim: "prn"] = .string("\u{E9}")
            $0[claim: "sub"] = .string("e\u{301}")
        },
        Bend("no nce", .missingClaim) { $0[claim: "nce"] = nil },
        Bend("no iat", .missingClaim) { $0[claim: "iat"] = nil },
        Bend("no exp", .missingClaim) { $0[claim: "exp"] = nil },
        Bend("iat as text", .malformed) { $0[claim: "iat"] = .string("\(now)") },
        Bend("exp in milliseconds", .malformed) { $0[claim: "exp"] = .integer(now * 1000) },
        Bend("exp before 1970", .malformed) { $0[claim: "exp"] = .integer(-1) },
        Bend("exp before iat", .malformed) { $0[claim: "exp"] = .integer(now - 1) },
        Bend("exp just beyond the skew", .expired) { $0.lives(from: RegisteredProvider.now - 360, for: 300) },
        Bend("iat just beyond the skew", .notYetValid) { $0.lives(from: RegisteredProvider.now + 61, for: 300) },
        Bend("nbf just beyond the skew", .notYetValid) { $0[claim: "nbf"] = .integer(now + 61) },
        Bend("nbf as text", .malformed) { $0[claim: "nbf"] = .string("now") },
        Bend("a life of 601 s", .lifetimeTooLong) { $0.lives(from: RegisteredProvider.now, for: 601) },
        Bend("another realm", .wrongAudience) { $0[claim: "aud"] = .string("other.example") },
        Bend("only other realms", .wrongAudience) { $0[claim: "aud"] = .array([.string("a"), .string("b")]) },
        Bend("an empty aud", .wrongAudience) { $0[claim: "aud"] = .array([]) },
        Bend("aud that is a number", .malformed) { $0[claim: "aud"] = .integer(1) },
        Bend("an app_id that is no id", .malformed) { $0[claim: "app_id"] = .string("app") },
    ]
}

@Suite("Identity tokens")
struct IdentityTokenTests {
    @Test("A good token of each algorithm becomes an identity", arguments: SignatureAlgorithm.allCases)
    func good(algorithm: SignatureAlgorithm) throws {
        let bench = try RegisteredProvider(algorithm)
        let application = ApplicationID(UUID())
        let identity = try bench.verify(
            bench.token { draft in
                draft[header: "cty"] = .string("layer-eit; v=1")
                draft[claim: "aud"] = .array([.string("other.example"), .string(RegisteredProvider.realm)])
                draft[claim: "app_id"] = .string(application.description)
                draft[claim: "display_name"] = .string("Ånna")
                draft[claim: "avatar_url"] = .string("https://IMG.acme.example/a.png?size=1#x")
                draft[claim: "color"] = .object([])
            })
        #expect(identity.provider == bench.provider.id)
        #expect(identity.keyID == bench.key.id)
        #expect(identity.externalID == "anna")
        #expect(identity.nonce == "n-1")
        #expect(identity.issuedAt == RegisteredProvider.now)
        #expect(identity.expiresAt == RegisteredProvider.now + 300)
        #expect(identity.applicationID == application)
        #expect(identity.displayName == "Ånna")
        #expect(identity.avatarURL == "https://IMG.acme.example/a.png?size=1#x")
    }

    @Test("sub stands for prn, alone or beside an equal one")
    func subject() throws {
        let bench = try RegisteredProvider()
        let alone = try bench.token {
            $0[claim: "prn"] = nil
            $0[claim: "sub"] = .string("bert")
        }
        #expect(try bench.verify(alone).externalID == "bert")
        #expect(try bench.verify(bench.token { $0[claim: "sub"] = .string("anna") }).externalID == "anna")
    }

    @Test("A bent token is refused by the right word", arguments: Bend.all)
    func bent(bend: Bend) throws {
        let bench = try RegisteredProvider(.es256)
        let compact = try bench.token(bend.edit)
        #expect(throws: refusal(bend.reason)) { try bench.verify(compact) }
    }

    @Test("A name or picture that cannot be shown is left out and reported, and locks nobody out")
    func undisplayable() throws {
        let bench = try RegisteredProvider()
        let names: [JSONValue] = [
            .null, .string(""), .integer(1), .string(String(repeating: "\u{E9}", count: 129)), .string("Ada\u{2028}"),
            .string(" "), .string("\u{A0}\u{3000}"), .string("\u{3164}"), .string("\u{2800}"),
            .string("Anna\u{3164}"), .string("An\u{34F}na"), .string("\u{301}\u{302}"),
            .string("Ada \u{2066}ecalevoL\u{2069}"), .string("Anna\u{200F}"), .string("An\u{AD}na"),
            // The flag of England, which is written by tags.
            .string("Anna \u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}"),
        ]
        for name in names {
            let compact = try bench.token { $0[claim: "display_name"] = name }
            let identity = try bench.verify(compact)
            #expect(identity.displayName == nil && identity.ignored.map(\.name) == ["display_name"], "\(name)")
            let report = bench.verifier.check(
                compact, provider: bench.provider, keys: [bench.key], now: RegisteredProvider.now)
            #expect(report.defects.isEmpty && report.ignored == identity.ignored)
        }
        let marked = try bench.token {
            $0[claim: "display_name"] = .string("A" + String(repeating: "\u{301}", count: 40))
        }
        #expect(
            try bench.verify(marked).ignored.map(\.detail) == [
                "The claim display_name cannot be read: a string has more than 30 combining marks in a row."
            ])
        let pictures: [JSONValue] = [
            .null, .string(""), .array([]), .string("http://img.acme.example/a.png"),
            .string("https://evil.example/a.png"), .string("https://img.acme.example@evil.example/a.png"),
            .string(#"https://evil.example\@img.acme.example/a.png"#), .string("https://img.acme.example:8443/a.png"),
        ]
        for picture in pictures {
            let identity = try bench.verify(
                bench.token {
                    $0[claim: "avatar_url"] = picture
                    $0[claim: "display_name"] = .string("Anna")
                })
            #expect(identity.avatarURL == nil && identity.displayName == "Anna", "\(picture)")
            #expect(identity.ignored.map(\.name) == ["avatar_url"])
        }
        #expect(try bench.verify(bench.token()).ignored.isEmpty)
    }

    @Test("Every reason of the contract is met by a test, those of the nonce apart")
    func everyReason() {
        let elsewhere: Set<Refusal.Reason> = [
            .keyRetired, .badSignature, .nonceUnknown, .nonceExpired, .nonceUsed, .nonceOtherDevice,
        ]
        #expect(Set(Bend.all.map(\.reason)).union(elsewhere) == Set(Refusal.Reason.ofIdentityTokens))
    }

    @Test("Clocks may be off by the skew and no more")
    func skew() throws {
        let bench = try RegisteredProvider()
        let now = RegisteredProvider.now
        for start in [-359.5, -300.0, 0, 59.5, 60] {
            _ = try bench.verify(bench.token { $0.lives(from: now, for: 300) }, now: now - start)
        }
        let token = try bench.token()
        #expect(throws: refusal(.expired)) { try bench.verify(token, now: now + 360) }
        #expect(throws: refusal(.notYetValid)) { try bench.verify(token, now: now - 60.5) }
    }

    @Test("A time may have a fraction, as a NumericDate may")
    func fractions() throws {
        let bench = try RegisteredProvider()
        let seconds = Double(RegisteredProvider.seconds)
        let identity = try bench.verify(
            bench.token {
                $0[claim: "iat"] = .number(seconds + 0.5)
                $0[claim: "exp"] = .number(seconds + 60)
            })
        #expect(identity.issuedAt.timeIntervalSince1970 == seconds + 0.5)
    }

    @Test("The longest life is policy's, and a day at most")
    func lifetime() throws {
        var bench = try RegisteredProvider()
        bench.verifier = IdentityTokenVerifier(realm: RegisteredProvider.realm, maximumLifetime: 10 * 86_400)
        #expect(bench.verifier.maximumLifetime == 86_400)
        _ = try bench.verify(bench.token { $0.lives(from: RegisteredProvider.now, for: 86_400) })
        let longer = try bench.token { $0.lives(from: RegisteredProvider.now, for: 86_401) }
        #expect(throws: refusal(.lifetimeTooLong)) { try bench.verify(longer) }
    }

    @Test("A retired key, and a disabled provider, sign nothing any more")
    func ended() throws {
        var bench = try RegisteredProvider()
        let token = try bench.token()
        bench.key = try bench.signer.registered(as: bench.key.id, for: bench.provider.id, retired: true)
        #expect(throws: refusal(.keyRetired)) { try bench.verify(token) }
        bench.provider.disabledAt = RegisteredProvider.now
        #expect(throws: refusal(.unknownIssuer)) { try bench.verify(token) }
    }

    @Test("A provider's key vouches for no other provider's users")
    func foreignKey() throws {
        let (ours, theirs) = (try RegisteredProvider(), try RegisteredProvider())
        let token = try UnverifiedToken(theirs.token { $0[claim: "iss"] = .string(ours.provider.id.description) })
        #expect(throws: refusal(.unknownKey)) {
            try ours.verifier.verify(token, provider: ours.provider, key: theirs.key, now: RegisteredProvider.now)
        }
        let own = try UnverifiedToken(theirs.token())
        #expect(throws: refusal(.unknownIssuer)) {
            try ours.verifier.verify(own, provider: ours.provider, key: theirs.key, now: RegisteredProvider.now)
        }
    }

    @Test("A signature counts for its own bytes and key only", arguments: SignatureAlgorithm.allCases)
    func tampered(algorithm: SignatureAlgorithm) throws {
        let bench = try RegisteredProvider(algorithm)
        let parts = try bench.token().split(separator: ".").map(String.init)
        let other = try bench.token { $0[claim: "prn"] = .string("eve") }.split(separator: ".").map(String.init)
        let stranger =
            try algorithm == .rs256 || algorithm == .ps256
            ? RegisteredProvider.signer(algorithm == .rs256 ? .ps256 : .rs256) : ProviderSigner(algorithm)
        let signed = parts[0] + "." + parts[1]
        let cut = Base64URL.encode(try #require(Base64URL.decode(parts[2])).dropLast())
        let foreign = Base64URL.encode(try stranger.signature(over: Array(signed.utf8)))
        for compact in [
            [parts[0], other[1], parts[2]], [parts[0], parts[1], other[2]], [parts[0], parts[1], foreign],
            [parts[0], parts[1], ""], [parts[0], parts[1], cut],
        ] {
            #expect(throws: refusal(.badSignature)) { try bench.verify(compact.joined(separator: ".")) }
        }
    }

    @Test("RS256 and PS256 of one key do not stand for each other")
    func paddings() throws {
        let bench = try RegisteredProvider(.rs256)
        let key = RegisteredKey(
            id: bench.key.id, providerID: bench.provider.id,
            verificationKey: try VerificationKey(pem: bench.signer.publicKeyPEM, algorithm: .ps256), retired: false)
        let honest = try UnverifiedToken(bench.token())
        let relabelled = try UnverifiedToken(bench.token { $0[header: "alg"] = .string("PS256") })
        let now = RegisteredProvider.now
        #expect(throws: refusal(.algorithmMismatch)) {
            try bench.verifier.verify(honest, provider: bench.provider, key: key, now: now)
        }
        #expect(throws: refusal(.badSignature)) {
            try bench.verifier.verify(relabelled, provider: bench.provider, key: key, now: now)
        }
    }

    @Test("Claims are judged only once the signature holds")
    func claimsLast() throws {
        let bench = try RegisteredProvider()
        let compact = try bench.token { $0[claim: "exp"] = .integer(0) }.dropLast(4) + "AAAA"
        #expect(throws: refusal(.badSignature)) { try bench.verify(String(compact)) }
    }
}
