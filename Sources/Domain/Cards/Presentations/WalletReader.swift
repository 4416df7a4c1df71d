import Crypto

/// The service towards wallets: the certificate that a scheme of wallets gave it, and the key, which signs requests.
package struct WalletReader: Sendable {
    package let key: P256.Signing.PrivateKey
    /// The certificates in DER, the service's own first, without the root.
    package let certificates: [[UInt8]]

    package init(key: P256.Signing.PrivateKey, certificates: [[UInt8]]) {
        self.key = key
        self.certificates = certificates
    }
}
