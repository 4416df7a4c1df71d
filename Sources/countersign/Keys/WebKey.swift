import Crypto
import Domain
import Encoding
import Foundation

/// The service's public signing key as a JSON Web Key (RFC 7517), with its thumbprint (RFC 7638) as `kid`.
enum WebKey {
    static func json(_ key: P256.Signing.PublicKey) -> JSONValue {
        let (x, y) = coordinates(key)
        return .object([
            "kty": .string("EC"), "crv": .string("P-256"), "x": .string(x), "y": .string(y), "use": .string("sig"),
            "alg": .string("ES256"), "kid": .string(identifier(of: key)),
        ])
    }

    /// The key's thumbprint (RFC 7638), its `kid`.
    static func identifier(of key: P256.Signing.PublicKey) -> String {
        let (x, y) = coordinates(key)
        return Digest256.of("{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"\(x)\",\"y\":\"\(y)\"}").base64URL
    }

    private static func coordinates(_ key: P256.Signing.PublicKey) -> (x: String, y: String) {
        let point = Array(key.rawRepresentation)
        return (Base64URL.encode(point[..<32]), Base64URL.encode(point[32...]))
    }
}
