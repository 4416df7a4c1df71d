import Crypto
import Foundation
import SwiftASN1
import X509

package extension SigningKey {
    /// A certificate around a public key of the service, for programs that read keys from certificates alone (`x5c`,
    /// RFC 7517 §4.7). It says nothing else about the key, and its signature is not meant to be trusted.
    ///
    /// Everything in it follows from the keys, so with an RSA key it has the same bytes at each start and on each node.
    /// It does not expire (RFC 5280 §4.1.2.5): the key is valid as long as it is published.
    ///
    /// - Parameters:
    ///   - name: the key's id, the common name of the subject.
    ///   - signer: the id of this key.
    /// - Returns: DER.
    func certificate(of key: DevicePublicKey, named name: String, by signer: String) throws -> [UInt8] {
        let certificate = try Certificate(
            version: .v3, serialNumber: try SerialNumber.make(Array(key.keyHash.prefix(16))),
            publicKey: key.certificateKey, notValidBefore: Date(timeIntervalSince1970: 0),
            notValidAfter: Date(timeIntervalSince1970: 253_402_300_799),
            issuer: try DistinguishedName { CommonName(signer) }, subject: try DistinguishedName { CommonName(name) },
            signatureAlgorithm: signatureAlgorithm,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
            }, issuerPrivateKey: privateKey)
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }
}
