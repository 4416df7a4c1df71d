/// Which attestations are accepted, and what becomes of devices without any.
package struct AttestationRules: Sendable, Equatable {
    package var kinds = DeviceAttestation.Kind.allCases
    package var fallback = Fallback.none
    package var androidLevels = AndroidLevel.allCases
    /// The oldest security patch level of Android, such as 202603; 0 for any.
    package var androidOldestPatch = 0
}

package extension AttestationRules {
    /// How long a challenge is valid, in seconds.
    static let challengeLifetime = 600.0

    /// What a requester without an attestation must pass, with the gate `attested`.
    enum Fallback: String, Sendable, CaseIterable {
        /// Devices without an attestation are refused.
        case none
        case provider
        case captcha
    }

    /// Where a key of Android must be.
    enum AndroidLevel: String, Sendable, CaseIterable {
        case tee
        case strongbox

        package var level: DeviceAttestation.Level {
            switch self {
            case .tee: .tee
            case .strongbox: .strongBox
            }
        }
    }
}
