import Crypto
import CryptoExtras
import Domain
import Encoding
import Foundation

/// The service's RSA keys of access tokens. RFC 9068 §2.1 has every verifier know RS256.
package struct AccessTokenKeys: Sendable {
    private let key: _RSA.Signing.PrivateKey
    private let present: PublishedKey
    /// What `/.well-known/jwks.json` lists: the present key, then the next one and former ones.
    package let published: [PublishedKey]

    /// Takes the present key, 2048 to 4096 bits in PEM, and the public halves that are published beside it.
    ///
    /// `nil` if the text is no such key, or if one of the others is not RSA.
    package init?(pem: String, others: [VerificationKey]) {
        guard let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem), key.keySizeInBits <= 4096,
            let publicKey = try? VerificationKey(
                subjectPublicKeyInfo: Array(key.publicKey.derRepresentation), algorithm: .rs256),
            let present = PublishedKey(publicKey)
        else { return nil }
        var published = [present]
        for other in others {
            guard let other = PublishedKey(other) else { return nil }
            if !published.contains(where: { $0.id == other.id }) { published.append(other) }
        }
        self.key = key
        self.present = present
        self.published = published
    }

    /// Makes a key of 2048 bits: its PKCS#8 PEM.
    package static func generate() throws -> Secret<String> {
        Secret(try _RSA.Signing.PrivateKey(keySize: .bits2048).pkcs8PEMRepresentation + "\n")
    }

    /// The published key with an id.
    func key(_ id: String?) -> VerificationKey? {
        published.first { $0.id == id }?.key
    }

    /// An access token (RFC 9068): a compact JWS of the present key.
    func signed(_ payload: JSONValue) throws -> Secret<String> {
        let header = JSONValue.object([
            "alg": .string("RS256"), "kid": .string(present.id), "typ": .string("at+jwt"),
        ])
        let input =
            Base64URL.encode(Array(header.jsonText.utf8)) + "." + Base64URL.encode(Array(payload.jsonText.utf8))
        let signature = try key.signature(for: SHA256.hash(data: Data(input.utf8)), padding: .insecurePKCS1v1_5)
        return Secret(input + "." + Base64URL.encode(Array(signature.rawRepresentation)))
    }
}

/// A public RSA key of the service as a JSON Web Key (RFC 7517), named by its thumbprint (RFC 7638).
package struct PublishedKey: Sendable {
    /// The `kid`.
    package let id: String
    package let webKey: JSONValue
    let key: VerificationKey

    /// `nil` for a key that is not RSA with RS256.
    init?(_ key: VerificationKey) {
        guard key.algorithm == .rs256, case .rsa(let rsa) = key.publicKey.key, let numbers = try? rsa.getKeyPrimitives()
        else { return nil }
        let n = Base64URL.encode(Array(numbers.modulus))
        let e = Base64URL.encode(Array(numbers.publicExponent))
        id = Digest256.of("{\"e\":\"\(e)\",\"kty\":\"RSA\",\"n\":\"\(n)\"}").base64URL
        webKey = .object([
            "kty": .string("RSA"), "n": .string(n), "e": .string(e), "use": .string("sig"), "alg": .string("RS256"),
            "kid": .string(id),
        ])
        self.key = key
    }
}
