import SwiftASN1
import X509

/// Whether a certificate and a private key belong together; checked at the start, so that a mix-up is found early.
package enum KeyMatch {
    /// Compares the first certificate of a PEM file with a private key in PEM.
    ///
    /// - Throws: ``AuthorityError/malformedCertificate``, ``AuthorityError/malformedKey``,
    ///   ``AuthorityError/unsupportedKey``.
    package static func matches(certificatePEM: String, privateKeyPEM: String) throws(AuthorityError) -> Bool {
        guard let documents = try? PEMDocument.parseMultiple(pemString: certificatePEM),
            let document = documents.first(where: { $0.discriminator == "CERTIFICATE" }),
            let certificate = try? Certificate(pemDocument: document)
        else { throw .malformedCertificate }
        return try certificate.publicKey == SigningKey(pem: privateKeyPEM).privateKey.publicKey
    }
}
