import CJWT
import Crypto
import CryptoExtras
import Foundation

/// Signs this provider's tokens: compact JSON Web Signatures (RFC 7515), made by libjwt.
///
/// The private key stays here. Countersign received its public key at registration and returned the provider id (`iss`)
/// and the key id (`kid`). With these it can verify that this key signed a token.
struct TokenSigner: Sendable {
    /// The time for the app to send an identity token to Countersign, in seconds; Countersign accepts at most ten
    /// minutes.
    static let identityTokenLifetime = 5 * 60
    /// The lifetime of a provider token for calls to Countersign, in seconds; Countersign accepts at most an hour.
    static let providerTokenLifetime = 60 * 60

    private let providerID: String
    private let keyID: String
    private let key: [UInt8]
    private let algorithm: jwt_alg_t

    /// The kind of failure; libjwt reports no details.
    enum Failure: Error { case neitherRSANorP256, signing }

    /// - Parameter privateKeyPEM: an RSA key (signs RS256) or a P-256 key (signs ES256), not encrypted.
    init(registration: Registration, privateKeyPEM: String) throws {
        if (try? _RSA.Signing.PrivateKey(pemRepresentation: privateKeyPEM)) != nil {
            algorithm = JWT_ALG_RS256
        } else if (try? P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM)) != nil {
            algorithm = JWT_ALG_ES256
        } else {
            throw Failure.neitherRSANorP256
        }
        providerID = registration.providerID
        keyID = registration.keyID
        key = Array(privateKeyPEM.utf8)
    }

    /// A token that says "`user` logged in with this nonce": the app sends it to Countersign to open a session.
    ///
    /// - Parameters:
    ///   - user: this provider's own id of the user. It is permanent at Countersign, so a real backend uses the primary
    ///     key of its users table, which survives a change of name.
    ///   - nonce: the nonce that the device got from Countersign for this log-in. Never sign one twice, or for another
    ///     user.
    ///   - realm: the Countersign installation that the token is for.
    func identityToken(user: String, nonce: String, realm: String, now: Date) throws -> String {
        try sign(
            contentType: "layer-eit;v=1", claims: ["iss": providerID, "prn": user, "nce": nonce, "aud": realm],
            lifetime: Self.identityTokenLifetime, now: now)
    }

    /// A token that says "this caller is the provider", for Countersign's provider endpoints. Never give it to a
    /// device.
    func providerToken(realm: String, now: Date) throws -> String {
        try sign(
            contentType: "layer-provider;v=1", claims: ["iss": providerID, "aud": realm],
            lifetime: Self.providerTokenLifetime, now: now)
    }

    /// A Security Event Token (RFC 8417): a user's password was changed here, so the user must sign in again at
    /// Countersign (CAEP credential-change).
    func passwordChanged(user: String, realm: String, now: Date) throws -> String {
        struct Subject: Encodable {
            let format = "iss_sub"
            let iss: String
            let sub: String
        }
        struct Claims: Encodable {
            let iss, aud, jti: String
            let iat: Int
            let subId: Subject
            let events = [
                "https://schemas.openid.net/secevent/caep/event-type/credential-change": [
                    "credential_type": "password", "change_type": "update",
                ]
            ]
        }
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let header = try encoder.encode(["alg": isRSA ? "RS256" : "ES256", "kid": keyID, "typ": "secevent+jwt"])
        let claims = try encoder.encode(
            Claims(
                iss: providerID, aud: realm, jti: UUID().uuidString, iat: Int(now.timeIntervalSince1970),
                subId: Subject(iss: providerID, sub: user)))
        let input = [header, claims].map(Self.base64URL).joined(separator: ".")
        return "\(input).\(Self.base64URL(try signature(over: Data(input.utf8))))"
    }

    /// libjwt writes a `typ` of its own over every other one, so this token is signed without it (Upstream.md).
    private func signature(over input: Data) throws -> Data {
        let pem = String(decoding: key, as: UTF8.self)
        guard isRSA else {
            return try P256.Signing.PrivateKey(pemRepresentation: pem).signature(for: input).rawRepresentation
        }
        return try _RSA.Signing.PrivateKey(pemRepresentation: pem).signature(
            for: SHA256.hash(data: input), padding: .insecurePKCS1v1_5
        ).rawRepresentation
    }

    private var isRSA: Bool { algorithm == JWT_ALG_RS256 }

    /// base64url without padding (RFC 4648 §5).
    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private func sign(contentType: String, claims: [String: String], lifetime: Int, now: Date) throws -> String {
        var created: OpaquePointer?
        guard jwt_new(&created) == 0, let token = created else { throw Failure.signing }
        defer { jwt_free(token) }

        let issuedAt = Int(now.timeIntervalSince1970)
        var results = [  // libjwt itself adds `alg`, and `typ` "JWT"
            jwt_add_header(token, "cty", contentType),
            jwt_add_header(token, "kid", keyID),
            jwt_add_grant_int(token, "iat", issuedAt),
            jwt_add_grant_int(token, "exp", issuedAt + lifetime),
        ]
        for (name, value) in claims { results.append(jwt_add_grant(token, name, value)) }
        results.append(jwt_set_alg(token, algorithm, key, Int32(key.count)))

        guard results.allSatisfy({ $0 == 0 }), let encoded = jwt_encode_str(token) else { throw Failure.signing }
        defer { free(encoded) }
        return String(cString: encoded)
    }
}
