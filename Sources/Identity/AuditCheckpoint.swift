import Crypto
import Foundation

/// What the service signs of the audit log: up to this entry the chain has this digest.
///
/// Its signed form is a compact JWS (RFC 7515, ES256 of RFC 7518 §3.4) by the key that `/.well-known/jwks.json` names,
/// header `alg`, `kid`, `typ`, payload `digest`, `iat`, `prev`, `seq`.
public struct AuditCheckpoint: Sendable, Equatable {
    /// The last entry that it covers.
    public let sequence: Int64
    /// That entry's digest.
    public let digest: Digest256
    /// The entry of the checkpoint before it, 0 where it is the first: a checkpoint that was taken out leaves a gap.
    public let previous: Int64
    /// When it was signed, in whole seconds.
    public let at: Date

    /// The header's `typ`: a token of another purpose by the same key is no checkpoint.
    public static let type = "countersign-audit-checkpoint+jwt"

    /// Joins the parts.
    public init(sequence: Int64, digest: Digest256, previous: Int64, at: Date) {
        self.sequence = sequence
        self.digest = digest
        self.previous = previous
        self.at = at
    }

    /// The signed form.
    ///
    /// - Parameter keyID: the key's JWK thumbprint (RFC 7638).
    /// - Throws: what signing throws.
    public func signed(by key: P256.Signing.PrivateKey, keyID: String) throws -> String {
        let payload =
            "{\"digest\":\"\(digest.base64URL)\",\"iat\":\(at.milliseconds / 1000),\"prev\":\(previous),"
            + "\"seq\":\(sequence)}"
        let input = "\(Base64URL.encode(Self.header(keyID).utf8)).\(Base64URL.encode(payload.utf8))"
        let signature = try key.signature(for: Data(input.utf8))
        return "\(input).\(Base64URL.encode(signature.rawRepresentation))"
    }

    /// Why a signed form is none.
    public enum Fault: Error, Sendable, Equatable {
        /// It was not signed so, or not at all.
        case forged
        /// It names a key that is not at hand.
        case unknownKey(String)
    }

    /// Reads a signed form.
    ///
    /// - Parameters:
    ///   - token: a compact JWS of at most 2 KiB.
    ///   - keys: the service's public keys, present and past, by thumbprint.
    /// - Throws: ``Fault``.
    public init(token: String, keys: [String: P256.Signing.PublicKey]) throws(Fault) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard token.utf8.count <= 2048, parts.count == 3, let header = Base64URL.decode(parts[0].utf8),
            let payload = Base64URL.decode(parts[1].utf8), let signature = Base64URL.decode(parts[2].utf8),
            let keyID = (try? StrictJSON.parse(header))?["kid"]?.text
        else { throw .forged }
        guard let key = keys[keyID] else { throw .unknownKey(keyID) }
        guard header == Array(Self.header(keyID).utf8),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)),
            let value = try? StrictJSON.parse(payload), let digestText = value["digest"]?.text,
            let digest = Base64URL.decode(digestText).flatMap({ Digest256($0) }),
            case .integer(let seconds) = value["iat"], case .integer(let previous) = value["prev"],
            case .integer(let sequence) = value["seq"]
        else { throw .forged }
        self.init(
            sequence: sequence, digest: digest, previous: previous, at: Date(timeIntervalSince1970: Double(seconds)))
    }

    private static func header(_ keyID: String) -> String {
        "{\"alg\":\"ES256\",\"kid\":\"\(keyID)\",\"typ\":\"\(type)\"}"
    }
}
