import Crypto
import CryptoExtras
import Domain
import Encoding
import X509

/// A public key that may be certified: RSA, P-256 or P-384. Ed25519 is excluded, because no phone's TLS library
/// supports client certificates with it.
package struct DevicePublicKey: Sendable, Hashable {
    let publicKey: PublicKey
    let certificateKey: Certificate.PublicKey

    /// Takes a key of a supported kind.
    ///
    /// - Throws: `invalid_csr` with reason `unsupported_key`.
    package init(_ publicKey: PublicKey) throws(Refusal) {
        switch publicKey.key {
        case .rsa(let key): certificateKey = Certificate.PublicKey(key)
        case .p256(let key): certificateKey = Certificate.PublicKey(key)
        case .p384(let key): certificateKey = Certificate.PublicKey(key)
        case .ed25519: throw Refusal.csrKeyUnsupported
        }
        self.publicKey = publicKey
    }
}

package extension DevicePublicKey {
    /// The key as SubjectPublicKeyInfo (RFC 5280 §4.1.2.7) in DER.
    var subjectPublicKeyInfo: [UInt8] { publicKey.subjectPublicKeyInfo }
    /// SHA-256 of ``subjectPublicKeyInfo``, by which a used or revoked key is identified.
    var keyHash: [UInt8] { publicKey.thumbprint }

    /// Parses a SubjectPublicKeyInfo in DER.
    ///
    /// - Throws: `invalid_csr` with reason `malformed`, `weak_key` or `unsupported_key`.
    init(subjectPublicKeyInfo bytes: [UInt8]) throws(Refusal) {
        let key: PublicKey
        do throws(PublicKeyDefect) {
            key = try PublicKey(subjectPublicKeyInfo: bytes)
        } catch {
            throw Refusal.invalidCSR(Refusal.Reason(error.reason), error.detail)
        }
        try self.init(key)
    }
}
