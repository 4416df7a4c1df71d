import Crypto
import CryptoExtras
import Domain
import SwiftASN1
import X509

/// A private key that signs certificates and revocation lists, in memory or in a hardware module.
package struct SigningKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The public half as SubjectPublicKeyInfo in DER (RFC 5280 §4.1.2.7).
    package let subjectPublicKeyInfo: [UInt8]
    let privateKey: Certificate.PrivateKey
    /// The one algorithm that this key signs with; its digest is as strong as the key.
    let signatureAlgorithm: Certificate.SignatureAlgorithm
    /// ``signatureAlgorithm`` as AlgorithmIdentifier in DER.
    let algorithmIdentifier: [UInt8]

    private init(_ key: Certificate.PrivateKey) throws(AuthorityError) {
        let algorithm = try Self.algorithm(of: key.publicKey).0
        privateKey = key
        signatureAlgorithm = algorithm.name
        var serializer = DER.Serializer()
        guard (try? serializer.serialize(key.publicKey)) != nil else { throw .malformedKey }
        subjectPublicKeyInfo = serializer.serializedBytes
        serializer = DER.Serializer()
        let written: Void? = try? serializer.appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(algorithm.identifier)
            // RFC 4055 §5: NULL for RSA; RFC 5758 §3.2: nothing for ECDSA.
            if algorithm.hasNullParameters { try coder.serialize(ASN1Null()) }
        }
        guard written != nil else { throw .unsupportedKey }
        algorithmIdentifier = serializer.serializedBytes
    }

    /// Signs bytes: a DER ECDSA-Sig-Value (RFC 3279 §2.2.3) or a PKCS#1 v1.5 signature.
    func sign(_ bytes: [UInt8]) throws -> [UInt8] {
        try privateKey.sign(bytes: bytes, signatureAlgorithm: signatureAlgorithm).rawRepresentation
    }
}

package extension SigningKey {
    /// Parses a private key in PEM: PKCS#8 (RFC 5958), SEC 1 or PKCS#1; P-256, P-384 or RSA of 2048 to 4096 bits.
    ///
    /// - Throws: ``AuthorityError/malformedKey`` or ``AuthorityError/unsupportedKey``.
    init(pem: String) throws(AuthorityError) {
        // For SEC 1, OpenSSL writes the curve before the key.
        guard let documents = try? PEMDocument.parseMultiple(pemString: pem),
            let document = documents.first(where: { $0.discriminator.hasSuffix("PRIVATE KEY") }),
            let key = try? Certificate.PrivateKey(pemDocument: document)
        else { throw .malformedKey }
        try self.init(key)
    }

    /// Finds a private key in a hardware module. The token must also have its public key with the same `CKA_ID`, by
    /// which the two are matched.
    ///
    /// - Parameters:
    ///   - uri: `pkcs11:` with the token and object (RFC 7512); `module-path`, and `pin-source` (a file) or `pin-value`
    ///     after the question mark.
    ///   - pin: the user PIN; it takes precedence over the URI's.
    /// - Throws: ``AuthorityError/malformedURI(_:)``, ``AuthorityError/module(_:)``,
    ///   ``AuthorityError/unsupportedKey``.
    init(pkcs11 uri: String, pin: Secret<String>? = nil) throws(AuthorityError) {
        let key = try HardwareKey(try PKCS11URI(uri), pin: pin)
        let (algorithm, digest) = try Self.algorithm(of: key.publicKey)
        try self.init(
            Certificate.PrivateKey(
                HardwarePrivateKey(key: key, defaultSignatureAlgorithm: algorithm.name, digest: digest)))
    }

    /// Generates a P-256 key.
    ///
    /// - Returns: the key, and its PKCS#8 PEM for the key file.
    static func generate() throws(AuthorityError) -> (key: SigningKey, pem: Secret<String>) {
        let key = P256.Signing.PrivateKey()
        return (try SigningKey(Certificate.PrivateKey(key)), Secret(key.pemRepresentation + "\n"))
    }

    private typealias Algorithm = (
        name: Certificate.SignatureAlgorithm, identifier: ASN1ObjectIdentifier, hasNullParameters: Bool
    )

    private static func algorithm(of key: Certificate.PublicKey) throws(AuthorityError) -> (Algorithm, digest: String) {
        if P256.Signing.PublicKey(key) != nil {
            return ((.ecdsaWithSHA256, [1, 2, 840, 10_045, 4, 3, 2], false), "SHA256")
        }
        if P384.Signing.PublicKey(key) != nil {
            return ((.ecdsaWithSHA384, [1, 2, 840, 10_045, 4, 3, 3], false), "SHA384")
        }
        guard let rsa = _RSA.Signing.PublicKey(key), (2048...4096).contains(rsa.keySizeInBits) else {
            throw .unsupportedKey
        }
        return ((.sha256WithRSAEncryption, .AlgorithmIdentifier.sha256WithRSAEncryption, true), "SHA256")
    }

    /// Only the kind of the key.
    var description: String { "SigningKey(\(signatureAlgorithm))" }
    /// A mirror without children, so that `dump` shows no key.
    var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension SigningKey {
    /// A signed structure as X.509 has it: what is signed, the algorithm, and the signature (RFC 5280 §4.1 and §5.1).
    func signed(_ document: DER.Serializer) throws -> [UInt8] {
        let toBeSigned = document.serializedBytes
        let signature = try sign(toBeSigned)
        var signed = DER.Serializer()
        try signed.appendConstructedNode(identifier: .sequence) { coder in
            coder.serializeRawBytes(toBeSigned)
            coder.serializeRawBytes(algorithmIdentifier)
            try coder.serialize(ASN1BitString(bytes: signature[...]))
        }
        return signed.serializedBytes
    }
}
