import Foundation

package extension CertificationPolicy {
    /// Which attestations are accepted, and what becomes of devices without any.
    struct AttestationRules: Sendable, Equatable {
        /// The accepted forms, what a device without any of them must pass, and where a key of Android must be.
        package var (kinds, fallback, androidLevels) = (
            DeviceAttestation.Kind.allCases, Fallback.none, AndroidLevel.allCases
        )
        /// The oldest security patch level of Android, such as 202603 (0 for any), and the greatest age of Google's list of
        /// revoked certificates, in seconds.
        package var (androidOldestPatch, statusAge) = (0, 604_800.0)
        /// What becomes of an Android key while that list is unknown, and of a device with a certificate that it names.
        package var (statusUnknown, revoked) = (StatusUnknown.refuse, RevokedAction.challenge)
    }

    /// How long a challenge of an attestation is valid, in seconds.
    static var challengeLifetime: TimeInterval { 600 }

    /// What a requester without an attestation must pass, with the gate `attested`.
    enum Fallback: String, Sendable, CaseIterable {
        /// Devices without an attestation are refused.
        case none
        case provider
        case captcha
    }

    /// What becomes of an Android key while Google's list of revoked certificates is missing or too old.
    enum StatusUnknown: String, Sendable, CaseIterable {
        case refuse
        case admit
    }

    /// What becomes of a device with a certificate that is later revoked.
    enum RevokedAction: String, Sendable, CaseIterable {
        /// Its sessions must be renewed.
        case challenge
        /// Its certificates are revoked, and its sessions end.
        case revoke
        case keep
    }

    /// Where a key of Android must be.
    enum AndroidLevel: String, Sendable, CaseIterable {
        case tee
        case strongbox
    }
}
