import Authority
import Database
import Domain
import Encoding
import Foundation
import Repositories

/// An attestation that was verified for a key. Its challenge is not spent yet.
struct VerifiedAttestation: Sendable {
    let challenge: Nonce
    let result: Result

    enum Result: Sendable {
        case attested(DeviceAttestation)
        /// The key of App Attest that the device has vouched for the key.
        case asserted(by: Digest256, counter: UInt32)
    }
}

package extension Service {
    /// What a device sends so that its key is certified as attested. Binary members are decoded from base64.
    enum AttestationEvidence: Sendable {
        case appAttest(challenge: String, keyID: [UInt8], object: [UInt8])
        /// By a key that was attested with an earlier certificate of the device.
        case assertion(challenge: String, keyID: [UInt8], assertion: [UInt8])
        /// Certificates in DER, the key's own first.
        case androidKey(challenge: String, chain: [[UInt8]])
    }

    /// A new challenge for an attestation, and when it expires. Nothing is written, so a flood of requests costs no
    /// storage.
    func issueAttestationChallenge() -> (challenge: String, expiresAt: Date) {
        let expiresAt = environment.now().addingTimeInterval(CertificationPolicy.challengeLifetime)
        let challenge = Nonce.issue(
            randomBytes: environment.randomBytes(16), expiresAt: expiresAt, thumbprint: Self.challengeTag,
            key: keys.nonces)
        return (challenge, expiresAt)
    }
}

extension Service {
    /// In place of a certificate's thumbprint: no sign-in accepts such a challenge, and no attestation a nonce.
    private static let challengeTag = Digest256.of("attestation challenge")

    /// Verifies an attestation for the key of a request.
    ///
    /// - Parameter device: the device that renews its certificate; `nil` for a first certificate.
    /// - Throws: `Refusal` `invalid_csr` with reason `gate`; `unavailable` while the list of revoked attestations is unknown.
    func verifyAttestation(
        _ evidence: AttestationEvidence, for request: RequestedCertificate, renewing device: DeviceID? = nil
    ) async throws -> VerifiedAttestation {
        let rules = policy[\.certification].attestation
        guard rules.kinds.contains(evidence.kind) else {
            throw Refusal.attestationKindUnaccepted(rules.kinds)
        }
        let challenge = try challenge(evidence.challenge)
        let (apps, stored) = try await read { transaction in
            (
                try AttestationRepository(transaction).apps(),
                try device.flatMap { try AttestationRepository(transaction).find($0) }
            )
        }
        do {
            let verified = try result(evidence, request, apps, stored, rules, on: device)
            if case .attested(let attestation) = verified { try await requireUnlisted(attestation) }
            return VerifiedAttestation(challenge: challenge, result: verified)
        } catch let defect as AttestationDefect {
            throw Refusal.attestationRejected(defect)
        }
    }

    private func result(
        _ evidence: AttestationEvidence, _ request: RequestedCertificate, _ apps: [AttestedApp],
        _ stored: AttestationRepository.Stored?, _ rules: CertificationPolicy.AttestationRules, on device: DeviceID?
    ) throws -> VerifiedAttestation.Result {
        let keyText = Base64URL.encode(request.key.keyHash)
        let digest = AttestationVerifier.digest(challenge: evidence.challenge, subject: keyText)
        switch evidence {
        case .appAttest(_, let keyID, let object):
            guard let keyID = Digest256(keyID) else { throw AttestationDefect.keyID }
            return .attested(
                try attestation.verifyAppAttest(
                    object, keyID: keyID, digest: digest, apps: apps, allowsDevelopment: development != nil,
                    now: environment.now()))
        case .assertion(_, let keyID, let assertion):
            guard device != nil else { throw Refusal.assertionForFirstCertificate }
            guard let stored, case .appAttest(let key, let app, let isProduction) = stored.attestation,
                let known = stored.attestation.keyID, known == Digest256(keyID)
            else { throw Refusal.attestedKeyUnknown }
            // An app may have been removed, or the service may have left development, since the key was attested.
            guard apps.contains(app) else { throw AttestationDefect.appleApp }
            guard isProduction || development != nil else { throw AttestationDefect.environment }
            let counter = try AttestationVerifier.verifyAssertion(
                assertion, digest: digest, key: key, app: app, counter: stored.counter)
            return .asserted(by: known, counter: counter)
        case .androidKey(_, let chain):
            // A key of Android does not exist yet when the challenge is set.
            guard let subject = device ?? request.wishedDeviceID else { throw Refusal.attestationWithoutDeviceID }
            return .attested(
                try attestation.verifyAndroidKey(
                    chain, key: request.key,
                    digest: AttestationVerifier.digest(challenge: evidence.challenge, subject: subject.description),
                    apps: apps, demands: (Set(rules.androidLevels.map(\.level)), rules.androidOldestPatch),
                    now: environment.now()))
        }
    }

    private func challenge(_ text: String) throws(Refusal) -> Nonce {
        let challenge: Nonce
        do throws(Refusal) {
            challenge = try Nonce(shown: text, thumbprint: Self.challengeTag, key: keys.nonces)
        } catch {
            throw Refusal.attestationChallengeUnknown
        }
        guard environment.now() < challenge.expiresAt else { throw Refusal.attestationChallengeExpired }
        return challenge
    }

    /// Spends the challenge, and stores what was attested, in the transaction that issues the certificate. A copy of the
    /// request is refused then, on every node.
    ///
    /// - Throws: `Refusal` `invalid_csr` with reason `gate` or `key_in_use`.
    func record(_ verified: VerifiedAttestation, of device: DeviceID, in transaction: any Transaction) throws {
        let isNew: Bool
        do {
            isNew = try NonceRepository(transaction).spend(verified.challenge, for: "attestation")
        } catch let refusal as Refusal where refusal.code == .invalidIdentityToken {
            throw Refusal.attestationChallengeExpired
        }
        guard isNew else { throw Refusal.attestationChallengeUsed }
        let attestations = AttestationRepository(transaction)
        switch verified.result {
        case .attested(let attestation): try attestations.set(attestation, of: device)
        case .asserted(let keyID, let counter):
            guard try attestations.raiseCounter(to: counter, of: keyID, on: device) else {
                throw Refusal.attestationRejected(.assertionCounter)
            }
        }
    }
}

extension VerifiedAttestation {
    /// The mark of the certificate.
    var level: DeviceAttestation.Level {
        switch result {
        case .attested(let attestation): attestation.level
        case .asserted: .appAttest
        }
    }
}

extension Service.AttestationEvidence {
    fileprivate var kind: DeviceAttestation.Kind {
        switch self {
        case .appAttest, .assertion: .appAttest
        case .androidKey: .androidKey
        }
    }

    fileprivate var challenge: String {
        switch self {
        case .appAttest(let challenge, _, _), .assertion(let challenge, _, _), .androidKey(let challenge, _): challenge
        }
    }
}

extension CertificationPolicy.AndroidLevel {
    fileprivate var level: DeviceAttestation.Level {
        switch self {
        case .tee: .tee
        case .strongbox: .strongBox
        }
    }
}
