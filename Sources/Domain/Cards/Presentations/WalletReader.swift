import Crypto
import Encoding

/// The service towards wallets: the certificate that a scheme of wallets gave it, and the key, which signs requests.
package struct WalletReader: Sendable {
    package let key: P256.Signing.PrivateKey
    /// The certificates in DER, the service's own first, without the root.
    package let certificates: [[UInt8]]
    /// The service's name in requests, with its prefix: `x509_hash` and the digest of its certificate (OpenID4VP 1.0
    /// §5.9.3).
    package let clientID: String

    package init(key: P256.Signing.PrivateKey, certificates: [[UInt8]]) {
        self.key = key
        self.certificates = certificates
        clientID = "x509_hash:" + Digest256.of(certificates.first ?? []).base64URL
    }
}
