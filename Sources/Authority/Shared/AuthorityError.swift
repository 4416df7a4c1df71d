/// Why the authority cannot be set up or cannot issue: errors in its keys and configuration, for the operator.
/// Errors of a device are a `Refusal`.
package enum AuthorityError: Error, Sendable, Equatable {
    /// A private key is not PEM (PKCS#8, SEC 1 or PKCS#1).
    case malformedKey
    /// A private key of another kind than P-256, P-384 or RSA of 2048 to 4096 bits.
    case unsupportedKey
    /// A certificate is not PEM or not X.509.
    case malformedCertificate
    /// The certificate may not sign certificates and revocation lists (RFC 5280 §4.2.1.3, §4.2.1.9).
    case notAnAuthority
    /// The private key does not belong to the certificate, or cannot sign.
    case keyMismatch
    /// The authority's own certificate is not valid at the time of issuance.
    case authorityExpired
    /// A serial number is not 16 bytes, or all of them are zero.
    case invalidSerial
    /// A host is neither a DNS name nor an IP address; or a URL or a policy's object identifier cannot be encoded.
    case invalidName(String)
    /// A `pkcs11:` URI is malformed (RFC 7512), with the reason but none of its values.
    case malformedURI(String)
    /// The hardware module refused, with OpenSSL's reason.
    case module(String)
}

extension AuthorityError: CustomStringConvertible {
    /// One sentence for the operator, without secrets.
    package var description: String {
        switch self {
        case .malformedKey: "The private key is not PEM in PKCS#8, SEC 1 or PKCS#1 form."
        case .unsupportedKey: "The private key must be P-256, P-384 or RSA of 2048 to 4096 bits."
        case .malformedCertificate: "The certificate is not X.509 in PEM."
        case .notAnAuthority:
            "The certificate is not one of an authority that may sign certificates and revocation lists."
        case .keyMismatch: "The private key does not belong to the certificate."
        case .authorityExpired: "The authority's certificate is not valid now."
        case .invalidSerial: "A serial number must be 16 random bytes."
        case .invalidName(let name): "\"\(name)\" cannot be part of a certificate."
        case .malformedURI(let reason): "The pkcs11: URI cannot be used: \(reason)."
        case .module(let reason): "The PKCS#11 module refused: \(reason)."
        }
    }
}
