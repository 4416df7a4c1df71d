/// Why the authority cannot be set up or cannot issue: faults of its own keys and configuration, for the operator.
/// What a device did wrong is a `Refusal`.
package enum AuthorityError: Error, Sendable, Equatable {
    /// A private key is not PEM (PKCS#8, SEC 1 or PKCS#1).
    case malformedKey
    /// A private key of another kind than P-256, P-384 or RSA of 2048 to 4096 bits.
    case unsupportedKey
    /// A certificate is not PEM or not X.509.
    case malformedCertificate
    /// The certificate may not sign certificates and revocation lists (RFC 5280 §4.2.1.3, §4.2.1.9).
    case notAnAuthority
    /// The private key is not the one of the certificate, or does not sign.
    case keyMismatch
    /// The authority's own certificate is not valid at the time of issuing.
    case authorityExpired
    /// A serial number is not 16 bytes with one that is not zero.
    case invalidSerial
    /// A host is neither a DNS name nor an IP address; a URL or a policy's object identifier cannot be written.
    case invalidName(String)
    /// A `pkcs11:` URI cannot be read (RFC 7512); it holds the reason without any of its values.
    case malformedURI(String)
    /// The hardware module refused; it holds OpenSSL's reason.
    case module(String)
}

extension AuthorityError: CustomStringConvertible {
    /// One sentence for the operator; no secret in it.
    package var description: String {
        switch self {
        case .malformedKey: "The private key is not PEM in PKCS#8, SEC 1 or PKCS#1 form."
        case .unsupportedKey: "The private key must be P-256, P-384 or RSA of 2048 to 4096 bits."
        case .malformedCertificate: "The certificate is not X.509 in PEM."
        case .notAnAuthority:
            "The certificate is not one of an authority that may sign certificates and revocation lists."
        case .keyMismatch: "The private key does not belong to the certificate."
        case .authorityExpired: "The authority's certificate is not valid now."
        case .invalidSerial: "A serial number is made of 16 random bytes."
        case .invalidName(let name): "\"\(name)\" cannot stand in a certificate."
        case .malformedURI(let reason): "The pkcs11: URI cannot be used: \(reason)."
        case .module(let reason): "The PKCS#11 module refused: \(reason)."
        }
    }
}
