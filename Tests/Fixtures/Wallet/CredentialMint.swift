import Crypto
import Domain
import Encoding
import Foundation

/// Mints SD-JWT VCs and presents them, with the faults that its properties make.
package struct CredentialMint: Sendable {
    package static let type = "urn:eudi:pid:1"

    package let issuer: WalletIssuer
    package var holderKey = P256.Signing.PrivateKey()
    /// The key that signs the presentation; `nil` for the holder's.
    package var presentingKey: P256.Signing.PrivateKey?
    /// The claims that the holder can disclose, and those that are disclosed.
    package var claims: [(name: String, value: JSONValue)] = [
        ("family_name", .string("SAMPLE")), ("birthdate", .string("1990-01-01")),
    ]
    package var disclosed = ["family_name"]
    /// Members of the payload, which replace those of the same name.
    package var payload: [JSONMember] = []
    package var header: [JSONMember] = []
    package var binding: [JSONMember] = []
    package var bindingHeader: [JSONMember] = []
    package var certificates: [[UInt8]]
    /// Whether the digest in the key binding is made over the last tilde, too.
    package var coversLastTilde = true
    package var hasBinding = true
    /// A change of the disclosures after the issuer signed their digests.
    package var changeDisclosures: @Sendable (inout [String]) -> Void = { _ in }
    /// A change of the disclosures after the holder signed.
    package var changeAfterBinding: @Sendable (inout [String]) -> Void = { _ in }

    package init(_ issuer: WalletIssuer) {
        self.issuer = issuer
        certificates = [issuer.certificate]
    }

    /// A PID with all claims of an identity.
    package static func person(_ familyName: String, _ issuer: WalletIssuer) -> CredentialMint {
        var mint = CredentialMint(issuer)
        mint.claims = [
            ("family_name", .string(familyName)), ("given_name", .string("ALICE")),
            ("birthdate", .string("1990-01-31")), ("date_of_expiry", .string("2044-01-31")),
            ("issuing_country", .string("US")), ("document_number", .string("X1234567")),
        ]
        mint.disclosed = mint.claims.map(\.name)
        return mint
    }

    /// A request for the family name.
    package static func request(
        _ channel: PresentationRequest.Channel = .digitalCredentials(origin: "https://app.example"),
        nonce: String = "n-1", claims: [[String]] = [["family_name"]]
    ) -> PresentationRequest {
        PresentationRequest(
            channel: channel, nonce: nonce, keyThumbprint: [],
            credentials: [RequestedCredential(id: "pid", format: .selectiveDisclosure, type: type, claims: claims)])
    }

    /// A presentation for a request.
    package func presentation(for request: PresentationRequest = request()) throws -> String {
        let all = claims.map { (name: $0.name, text: Self.disclosure($0.name, $0.value)) }
        let digests = all.map { JSONValue.string(Digest256.of($0.text).base64URL) }
        let seconds = Int64(issuer.now.timeIntervalSince1970)
        let standard: [JSONMember] = [
            .init("iss", .string("https://dmv.example")), .init("iat", .integer(seconds - 60)),
            .init("exp", .integer(seconds + 3600)), .init("vct", .string(Self.type)),
            .init("_sd_alg", .string("sha-256")), .init("_sd", .array(digests)),
            .init("cnf", .object(["jwk": Self.webKey(holderKey.publicKey)])),
        ]
        let chain = certificates.map { JSONValue.string(Data($0).base64EncodedString()) }
        let token = try Self.sign(
            Self.replacing(
                [.init("alg", .string("ES256")), .init("typ", .string("dc+sd-jwt")), .init("x5c", .array(chain))],
                header),
            Self.replacing(standard, payload), by: issuer.signerKey)
        var disclosures = all.filter { disclosed.contains($0.name) }.map(\.text)
        changeDisclosures(&disclosures)
        let bound = Self.joined(token, disclosures)
        guard hasBinding else { return bound }
        let covered = coversLastTilde ? bound : String(bound.dropLast())
        let proof: [JSONMember] = [
            .init("iat", .integer(seconds)), .init("nonce", .string(request.nonce)),
            .init("aud", .string(request.channel.audience ?? "")),
            .init("sd_hash", .string(Digest256.of(covered).base64URL)),
        ]
        let key = try Self.sign(
            Self.replacing([.init("alg", .string("ES256")), .init("typ", .string("kb+jwt"))], bindingHeader),
            Self.replacing(proof, binding), by: presentingKey ?? holderKey)
        changeAfterBinding(&disclosures)
        return Self.joined(token, disclosures) + key
    }

    package static func disclosure(_ name: String, _ value: JSONValue, salt: String = UUID().uuidString) -> String {
        Base64URL.encode(JSONValue.array([.string(salt), .string(name), value]).jsonBytes)
    }

    /// A compact JWS by ES256.
    package static func sign(
        _ header: [JSONMember], _ payload: [JSONMember], by key: P256.Signing.PrivateKey
    ) throws -> String {
        let text = [header, payload].map { Base64URL.encode(JSONValue.object($0).jsonBytes) }.joined(separator: ".")
        return text + "." + Base64URL.encode(Array(try key.signature(for: Data(text.utf8)).rawRepresentation))
    }

    package static func webKey(_ key: P256.Signing.PublicKey) -> JSONValue {
        let numbers = Array(key.rawRepresentation)
        return .object([
            "kty": .string("EC"), "crv": .string("P-256"), "x": .string(Base64URL.encode(numbers.prefix(32))),
            "y": .string(Base64URL.encode(numbers.suffix(32))),
        ])
    }

    private static func joined(_ token: String, _ disclosures: [String]) -> String {
        ([token] + disclosures).map { $0 + "~" }.joined()
    }

    /// Members with those of a list in place of the ones with the same name; `null` leaves one out.
    package static func replacing(_ members: [JSONMember], _ others: [JSONMember]) -> [JSONMember] {
        let names = others.map(\.name)
        return members.filter { !names.contains($0.name) } + others.filter { $0.value != .null }
    }
}

extension JSONMember {
    package init(_ name: String, _ value: JSONValue) { self.init(name: name, value: value) }
}

/// Mints status lists of both forms.
package struct StatusListMint: Sendable {
    package let issuer: WalletIssuer
    package var uri = "https://dmv.example/status/1"
    package var bits: UInt64 = 2
    /// The statuses, the lowest bits of a byte first: valid, revoked, suspended, unknown.
    package var list: [UInt8] = [0b1110_0100]
    package var certificates: [[UInt8]]
    package var (issuedAt, expiresAt): (Date?, Date?)
    /// The `ttl`, seconds.
    package var timeToLive: UInt64?
    package var isJWT = false
    package var type: String?

    package init(_ issuer: WalletIssuer) {
        self.issuer = issuer
        certificates = [issuer.certificate]
        issuedAt = issuer.now - 60
        expiresAt = issuer.now + 3600
    }

    package func token() throws -> [UInt8] {
        let compressed = Self.compressed(list)
        guard isJWT else {
            var claims: [CBORKey: CBORValue] = [
                2: .text(uri),
                65533: .map(["bits": .unsigned(bits), "lst": .bytes(compressed[...])]),
            ]
            claims[6] = issuedAt.map { .unsigned(UInt64($0.timeIntervalSince1970)) }
            claims[4] = expiresAt.map { .unsigned(UInt64($0.timeIntervalSince1970)) }
            claims[65534] = timeToLive.map { .unsigned($0) }
            return try DocumentMint.sign(
                CBORValue.map(claims).encoded, by: issuer.signerKey,
                unprotected: [33: .array(certificates.map { .bytes($0[...]) })],
                protected: [1: .negative(6), 16: .text(type ?? "application/statuslist+cwt")]
            ).encoded
        }
        let chain = certificates.map { JSONValue.string(Data($0).base64EncodedString()) }
        let list = JSONValue.object([
            "bits": .integer(Int64(bits)), "lst": .string(Base64URL.encode(compressed)),
        ])
        func seconds(_ date: Date?) -> JSONValue { date.map { .integer(Int64($0.timeIntervalSince1970)) } ?? .null }
        return Array(
            try CredentialMint.sign(
                [
                    .init("alg", .string("ES256")), .init("typ", .string(type ?? "statuslist+jwt")),
                    .init("x5c", .array(chain)),
                ],
                CredentialMint.replacing(
                    [],
                    [
                        .init("sub", .string(uri)), .init("iat", seconds(issuedAt)), .init("exp", seconds(expiresAt)),
                        .init("ttl", timeToLive.map { .integer(Int64(clamping: $0)) } ?? .null),
                        .init("status_list", list),
                    ]), by: issuer.signerKey
            ).utf8)
    }

    /// Bytes in one stored block of zlib (RFC 1950); at most 65,535.
    private static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        let length = UInt16(clamping: bytes.count)
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            low = (low + UInt32(byte)) % 65521
            high = (high + low) % 65521
        }
        func parts(_ word: UInt16) -> [UInt8] { [UInt8(word & 255), UInt8(word >> 8)] }
        let sum = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: (high << 16 | low) >> $0) }
        return [0x78, 0x01, 0x01] + parts(length) + parts(~length) + bytes + sum
    }
}
