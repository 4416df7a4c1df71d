import Crypto
import Domain
import Encoding
import Foundation
import SwiftASN1
import X509

/// Verifies attestations of device makers, down from root keys that are part of the service or of its configuration.
///
/// Roots are pinned by name and key and not by certificate: Google published one key in several certificates, and one of them
/// has expired. A root certificate that a device sends adds nothing.
package struct AttestationVerifier: Sendable {
    let apple: [TrustAnchor]
    let google: [TrustAnchor]
}

package extension AttestationVerifier {
    /// Trusts the roots that Apple and Google publish.
    static let published = AttestationVerifier(apple: PublishedRoots.apple, google: PublishedRoots.google)

    /// Trusts the names and keys of root certificates, each in DER.
    ///
    /// - Throws: `AuthorityError/malformedCertificate`.
    init(apple: [[UInt8]], google: [[UInt8]]) throws(AuthorityError) {
        self.init(apple: try Self.anchors(in: apple), google: try Self.anchors(in: google))
    }

    /// Trusts the roots of both.
    func adding(_ other: AttestationVerifier) -> AttestationVerifier {
        AttestationVerifier(apple: apple + other.apple, google: google + other.google)
    }

    /// What an attestation is made for: SHA-256 of a text with the challenge and what the key is to be used for.
    ///
    /// - Parameter subject: base64url of the SHA-256 of the SubjectPublicKeyInfo that App Attest vouches for, or the wished
    ///   device id: a key of Android does not exist yet when its challenge is set.
    static func digest(challenge: String, subject: String) -> Digest256 {
        Digest256.of("countersign-attest-v1\n\(challenge)\n\(subject)")
    }

    /// Verifies what App Attest says about a new key ("Validating apps that connect to your server", steps 1 to 9).
    ///
    /// - Parameters:
    ///   - keyID: the name that the device gives the key: SHA-256 of its point.
    ///   - digest: `digest(challenge:subject:)`.
    ///   - apps: the registered apps. The app is never taken from the object.
    ///   - allowsDevelopment: whether keys of the development environment are accepted.
    func verifyAppAttest(
        _ bytes: [UInt8], keyID: Digest256, digest: Digest256, apps: [AttestedApp], allowsDevelopment: Bool, now: Date
    ) throws(AttestationDefect) -> DeviceAttestation {
        let object = try AppAttestObject(bytes)
        try object.verifyChain(roots: apple, now: now)
        guard object.nonce.elementsEqual(object.data.nonce(digest)) else { throw .appleNonce }
        guard let leafKey = P256.Signing.PublicKey(object.leaf.publicKey),
            let key = try? PublicKey(subjectPublicKeyInfo: Array(leafKey.derRepresentation)),
            Digest256.of(leafKey.x963Representation) == keyID
        else { throw .keyID }
        guard let app = apps.first(where: object.data.isOf) else { throw .appleApp }
        guard object.data.counter == 0 else { throw .counter }
        guard object.data.flags == AuthenticatorData.attestedFlag else { throw .flags }
        guard let credential = AttestedCredential(object.data.rest) else { throw .credential }
        guard credential.isProduction || allowsDevelopment else { throw .environment }
        // Both are compared as values: a key has one encoding, and the identifier is bytes.
        guard credential.identifier.elementsEqual(keyID.bytes), credential.key == key else { throw .credential }
        return .appAttest(key: key, app: app, isProduction: credential.isProduction)
    }

    /// Verifies a signature by a key that App Attest attested earlier.
    ///
    /// - Parameters:
    ///   - digest: `digest(challenge:subject:)`.
    ///   - key: the key of the stored attestation.
    ///   - app: the app of the stored attestation: a key of another app signs for that app only.
    ///   - counter: the last counter. A copied assertion does not have a higher one.
    /// - Returns: the counter of the assertion, which is the last one from now on.
    static func verifyAssertion(
        _ bytes: [UInt8], digest: Digest256, key: PublicKey, app: AttestedApp, counter: UInt32
    ) throws(AttestationDefect) -> UInt32 {
        guard bytes.count <= 1024, let assertion = try? CBORReader.read(bytes[...]), assertion.count == 2,
            let signatureBytes = assertion["signature"]?.bytes,
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: signatureBytes),
            let data = assertion["authenticatorData"]?.bytes.flatMap({ AuthenticatorData($0) })
        else { throw .assertion }
        guard case .p256(let key) = key.key,
            key.isValidSignature(signature, for: Array(data.nonce(digest)))
        else { throw .assertionSignature }
        guard data.isOf(app) else { throw .assertionApp }
        guard data.counter > counter else { throw .assertionCounter }
        return data.counter
    }

    /// What an Android key must be.
    typealias AndroidDemands = (levels: Set<DeviceAttestation.Level>, oldestPatch: Int)

    /// Verifies the chain of an Android key. Whether a certificate of it is revoked is said by the status list.
    ///
    /// - Parameters:
    ///   - chain: certificates in DER, the key's own first.
    ///   - key: the key to be certified.
    ///   - digest: `digest(challenge:subject:)`.
    ///   - apps: the registered apps. The app is never taken from the chain.
    func verifyAndroidKey(
        _ chain: [[UInt8]], key: DevicePublicKey, digest: Digest256, apps: [AttestedApp], demands: AndroidDemands,
        now: Date
    ) throws(AttestationDefect) -> DeviceAttestation {
        let chain = try AttestationChain(chain, roots: google, now: now)
        guard chain.certificates.first?.publicKey == key.certificateKey else { throw .androidKey }
        let description = chain.description
        guard description.challenge.elementsEqual(digest.bytes) else { throw .androidChallenge }
        guard let level = [1: DeviceAttestation.Level.tee, 2: .strongBox][description.securityLevel],
            demands.levels.contains(level)
        else { throw .androidLevel }
        guard description.uniqueID.isEmpty, !description.software.hasIdentifiers, !description.hardware.hasIdentifiers
        else { throw .identifiers }
        guard let boot = try? description.hardware.boot, boot.isLocked, boot.state == 0 else { throw .boot }
        guard (try? description.hardware.origin) == 0 else { throw .origin }
        // 2 is signing. A key with purpose 7 signs descriptions of other keys.
        guard let purposes = try? description.hardware.purposes, purposes.contains(2), !purposes.contains(7) else {
            throw .purpose
        }
        // A key for all apps is bound to none, whatever app had it made.
        guard !description.software.isForAllApplications, !description.hardware.isForAllApplications else {
            throw .allApplications
        }
        // The operating system names the app, which the verified boot state makes trustworthy.
        guard let application = try? description.software.application,
            let app = apps.first(where: application.isOf)
        else { throw .androidApp }
        let patchLevel = (try? description.hardware.patchLevel) ?? 0
        guard patchLevel >= demands.oldestPatch else { throw .patchLevel }
        return .androidKey(level: level, app: app, patchLevel: patchLevel, serials: chain.serials)
    }

    private static func anchors(in roots: [[UInt8]]) throws(AuthorityError) -> [TrustAnchor] {
        var anchors: [TrustAnchor] = []
        for root in roots {
            guard let certificate = try? Certificate(strictDER: root) else { throw .malformedCertificate }
            anchors.append(TrustAnchor(name: certificate.subject, key: certificate.publicKey))
        }
        return anchors
    }
}
