import Crypto
import Foundation
import Identity

/// The service's public signing key as a JSON Web Key (RFC 7517), named by its thumbprint (RFC 7638).
enum WebKey {
    static func json(_ key: P256.Signing.PublicKey) -> JSONValue {
        let point = Array(key.rawRepresentation)
        let x = Base64URL.encode(point[..<32])
        let y = Base64URL.encode(point[32...])
        let thumbprint = Digest256.of("{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"\(x)\",\"y\":\"\(y)\"}")
        return .members([
            "kty": .string("EC"), "crv": .string("P-256"), "x": .string(x), "y": .string(y), "use": .string("sig"),
            "alg": .string("ES256"), "kid": .string(thumbprint.base64URL),
        ])
    }
}
