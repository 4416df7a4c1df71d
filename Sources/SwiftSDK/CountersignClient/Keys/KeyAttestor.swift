import Crypto
import Foundation

/// Proves that the device's key is in secure hardware, by calls of the platform. A service with the gate `attested` requires
/// it before it certifies the device.
public enum KeyAttestor: Sendable {
    /// App Attest vouches for the key, which ``DeviceKeys`` makes as usual.
    ///
    /// The closure calls `generateKey` and then `attestKey` of `DCAppAttestService` with the SHA-256 that it gets. It returns the
    /// key's id and the attestation.
    case appAttest(@Sendable (_ clientDataHash: Data) async throws -> (keyID: String, object: Data))
    /// The key store of Android attests the key, which the closure makes in place of ``DeviceKeys/make(_:)``.
    ///
    /// The closure gets the key's name and the attestation challenge. It returns the certificates in DER, the key's own first.
    case androidKey(@Sendable (_ keyName: String, _ challenge: Data) async throws -> [Data])
}

/// An attestation as it is sent, which is kept until its answer arrives.
struct Attestation: Codable, Sendable, Equatable {
    let kind: String
    let challenge: String
    var keyID: String?
    var object: String?
    var chain: [String]?

    private enum CodingKeys: String, CodingKey {
        case kind, challenge, object, chain
        case keyID = "key_id"
    }
}

extension Attestation {
    /// What a device attests: SHA-256 of a text with the challenge and what the key is to be used for.
    static func digest(challenge: String, subject: String) -> Data {
        Data(SHA256.hash(data: Data("countersign-attest-v1\n\(challenge)\n\(subject)".utf8)))
    }

    /// The name of a key that App Attest vouches for: base64url of the SHA-256 of its SubjectPublicKeyInfo.
    static func subject(publicPoint: Data) throws(Refusal) -> String {
        guard let key = try? P256.Signing.PublicKey(x963Representation: publicPoint) else { throw .storage(.damaged) }
        return Data(SHA256.hash(data: key.derRepresentation)).base64URL
    }
}
