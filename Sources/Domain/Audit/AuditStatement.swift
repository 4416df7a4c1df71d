import Crypto
import Encoding
import Foundation

/// A signed statement about the audit log at one of its entries. It is a compact JWS (RFC 7515, ES256 of RFC 7518
/// §3.4) by the service key in `/.well-known/jwks.json`, with the header `alg`, `kid`, `typ`.
enum AuditStatement {
    /// - Parameters:
    ///   - payload: JSON.
    ///   - type: the header's `typ`. It prevents that a statement is accepted for another purpose.
    /// - Returns: a compact JWS.
    static func sign(
        _ payload: String, type: String, by key: P256.Signing.PrivateKey, keyID: String
    ) throws -> String {
        let input = "\(Base64URL.encode(header(type, keyID).utf8)).\(Base64URL.encode(payload.utf8))"
        let signature = try key.signature(for: Data(input.utf8))
        return "\(input).\(Base64URL.encode(signature.rawRepresentation))"
    }

    /// Verifies a signed form of at most 2 KiB. Returns the payload and the members of every statement.
    static func open(
        _ token: String, type: String, keys: [String: P256.Signing.PublicKey]
    ) throws(AuditCheckpoint.Fault) -> (payload: JSONValue, sequence: Int64, digest: Digest256, at: Date) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard token.utf8.count <= 2048, parts.count == 3, let header = Base64URL.decode(parts[0].utf8),
            let payload = Base64URL.decode(parts[1].utf8), let signature = Base64URL.decode(parts[2].utf8),
            let keyID = (try? StrictJSON.parse(header))?["kid"]?.text
        else { throw .forged }
        guard let key = keys[keyID] else { throw .unknownKey(keyID) }
        guard header == Array(Self.header(type, keyID).utf8),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)),
            let value = try? StrictJSON.parse(payload), let digestText = value["digest"]?.text,
            let digest = Base64URL.decode(digestText).flatMap({ Digest256($0) }),
            case .integer(let seconds) = value["iat"], case .integer(let sequence) = value["seq"]
        else { throw .forged }
        return (value, sequence, digest, Date(timeIntervalSince1970: Double(seconds)))
    }

    private static func header(_ type: String, _ keyID: String) -> String {
        "{\"alg\":\"ES256\",\"kid\":\"\(keyID)\",\"typ\":\"\(type)\"}"
    }
}
