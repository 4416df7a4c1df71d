import Domain

/// A certificate as its device gets it.
package struct CertifiedDevice: Sendable {
    /// The certificate, PEM.
    package let certificatePEM: String
    /// The authority's certificates, PEM.
    package let chainPEM: [String]
    package let certificate: DeviceCertificate
    /// Whether it was made for the same request a moment ago.
    package var isRepeated = false
}
