import Crypto
import Encoding

/// The service towards wallets: the certificate that a scheme of wallets gave it, and the key, which signs requests.
package struct WalletReader: Sendable {
    /// The kinds of names of the service in requests. The raw values are their prefixes.
    package enum NameKind: String, Sendable, CaseIterable {
        /// The digest of the certificate, which HAIP 1.0 requires.
        case certificateHash = "x509_hash"
        /// A DNS name in the certificate, for wallets that know no other kind.
        case dnsName = "x509_san_dns"
    }

    package let key: P256.Signing.PrivateKey
    /// The certificates in DER, the service's own first, without the root.
    package let certificates: [[UInt8]]
    /// The service's name in requests, with its prefix (OpenID4VP 1.0 §5.9.3).
    package let clientID: String

    /// - Parameter dnsName: a DNS name in the certificate; `nil` to be named by its digest.
    package init(key: P256.Signing.PrivateKey, certificates: [[UInt8]], dnsName: String? = nil) {
        self.key = key
        self.certificates = certificates
        let (kind, name) =
            dnsName.map { (NameKind.dnsName, $0) }
            ?? (.certificateHash, Digest256.of(certificates.first ?? []).base64URL)
        clientID = "\(kind.rawValue):\(name)"
    }
}
