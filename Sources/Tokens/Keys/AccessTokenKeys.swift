import Crypto
import CryptoExtras
import Domain
import Encoding
import Foundation

/// The service's keys for access tokens: RSA, since RFC 9068 §2.1 requires every verifier to support RS256, and P-256.
package struct AccessTokenKeys: Sendable {
    private let rsa: RSASigner
    private let curve: P256.Signing.PrivateKey
    private let present: PublishedKey
    /// The RSA keys that `/.well-known/jwks.json` lists: the current one, then the next one and former ones.
    package let published: [PublishedKey]
    /// The P-256 keys that it lists, in this order too. The current one also signs security events.
    package let publishedCurves: [PublishedKey]
    /// The current P-256 key, which signs tokens and security events.
    let publishedCurve: PublishedKey

    /// Takes the current keys, RSA with 2048 to 4096 bits in PEM, and the other public keys to publish.
    ///
    /// `nil` if the text is not such a key, or if one of the others is neither RSA nor P-256.
    package init?(pem: String, others: [VerificationKey], curve: P256.Signing.PrivateKey) {
        guard let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem), key.keySizeInBits <= 4096,
            let signer = RSASigner(key),
            let publicKey = try? VerificationKey(
                subjectPublicKeyInfo: Array(key.publicKey.derRepresentation), algorithm: .rs256),
            let publicCurve = try? VerificationKey(
                subjectPublicKeyInfo: Array(curve.publicKey.derRepresentation), algorithm: .es256)
        else { return nil }
        present = PublishedKey(publicKey)
        publishedCurve = PublishedKey(publicCurve)
        var (published, curves) = ([present], [publishedCurve])
        for other in others {
            guard other.algorithm == .rs256 || other.algorithm == .es256 else { return nil }
            let key = PublishedKey(other)
            guard !(published + curves).contains(where: { $0.id == key.id }) else { continue }
            if other.algorithm == .rs256 { published.append(key) } else { curves.append(key) }
        }
        rsa = signer
        self.curve = curve
        self.published = published
        publishedCurves = curves
    }

    /// Generates an RSA key of 2048 bits as PKCS#8 PEM.
    package static func generate() throws -> Secret<String> {
        Secret(try _RSA.Signing.PrivateKey(keySize: .bits2048).pkcs8PEMRepresentation + "\n")
    }

    /// The published RSA key with an id.
    func key(_ id: String?) -> VerificationKey? {
        published.first { $0.id == id }?.key
    }

    /// The published key with an id and an algorithm.
    func key(_ id: String?, algorithm: String) -> VerificationKey? {
        let named = publishedCurves.first { $0.id == id }?.key ?? key(id)
        return named?.algorithm.rawValue == algorithm ? named : nil
    }

    /// A compact JWS of a current key: an access token (RFC 9068) unless `typ` is another one.
    func signed(
        _ payload: JSONValue, with algorithm: AccessTokenAlgorithm, type: String = "at+jwt"
    ) throws -> Secret<String> {
        try signed(payload.jsonBytes, with: algorithm, type: type)
    }

    /// A compact JWS with a JSON object as its payload, as text.
    func signed(_ claims: [UInt8], with algorithm: AccessTokenAlgorithm, type: String) throws -> Secret<String> {
        let id = algorithm == .rs256 ? present.id : publishedCurve.id
        let header = JSONValue.object([
            "alg": .string(algorithm.rawValue), "kid": .string(id), "typ": .string(type),
        ])
        let head = header.jsonBytes
        var token: [UInt8] = []
        token.reserveCapacity((head.count + claims.count) * 2)
        Base64URL.append(head, to: &token)
        token.append(UInt8(ascii: "."))
        Base64URL.append(claims, to: &token)
        let signature =
            switch algorithm {
            case .rs256: try rsa.signature(over: token)
            case .es256: try Array(curve.signature(for: token).rawRepresentation)
            }
        token.append(UInt8(ascii: "."))
        Base64URL.append(signature, to: &token)
        return Secret(String(decoding: token, as: UTF8.self))
    }
}

/// A public key of the service as a JSON Web Key (RFC 7517), named by its thumbprint (RFC 7638).
package struct PublishedKey: Sendable {
    /// The key's `kid` in tokens.
    package let id: String
    package let key: VerificationKey

    package init(_ key: VerificationKey) {
        id = key.publicKey.numbers.webKeyThumbprint
        self.key = key
    }

    /// - Parameter certificate: a certificate of the key in DER (`x5c`), for programs that accept only certificates.
    package func webKey(certificate: [UInt8]) -> JSONValue {
        guard case .object(let members) = key.publicKey.numbers.webKey else { return .null }
        return .object(
            members + [
                JSONMember(name: "use", value: .string("sig")),
                JSONMember(name: "alg", value: .string(key.algorithm.rawValue)),
                JSONMember(name: "kid", value: .string(id)),
                JSONMember(name: "x5c", value: .array([.string(Data(certificate).base64EncodedString())])),
            ])
    }
}
