/// Refusals of attestations, in the sentences of the check that failed.
package extension Refusal {
    static let attestationRequired = Refusal(
        .invalidCSR, "The attestation is missing. Attest the key, and send attestation.", reason: .gate)

    static func attestationKindUnaccepted(_ accepted: [DeviceAttestation.Kind]) -> Refusal {
        Refusal(
            .invalidCSR,
            "Attestations of this kind are not accepted. Send \(accepted.map(\.rawValue).joined(separator: " or ")).",
            reason: .gate)
    }

    static func attestationRejected(_ defect: AttestationDefect) -> Refusal {
        Refusal(.invalidCSR, defect.rawValue, reason: .gate)
    }

    static let attestationChallengeUnknown = Refusal(
        .invalidCSR, "The challenge is not one of this service. Get one at POST /attestation-challenges.", reason: .gate
    )

    static let attestationChallengeExpired = Refusal(
        .invalidCSR, "The challenge has expired. Get one at POST /attestation-challenges.", reason: .gate)

    static let attestationChallengeUsed = Refusal(
        .invalidCSR, "The challenge was used before. Get one at POST /attestation-challenges.", reason: .gate)

    static let attestationWithoutDeviceID = Refusal(
        .invalidCSR, "The request names no device id. Put the one of the challenge's text in its common name.",
        reason: .gate)

    static let attestationWithoutRequest = Refusal(
        .invalidCSR, "An attestation is of a new key. Send csr with it, or leave it out.", reason: .gate)

    static let attestedKeyInUse = Refusal(
        .invalidCSR, "Another device has this App Attest key. Generate a key of its own.", reason: .keyInUse)

    static let attestedKeyUnknown = Refusal(
        .invalidCSR, "The device has no App Attest key with this key_id. Send object instead of assertion.",
        reason: .gate)

    static let assertionForFirstCertificate = Refusal(
        .invalidCSR, "A first certificate needs an attestation. Send object instead of assertion.", reason: .gate)

    static func attestedAppRegistered(_ app: String) -> Refusal {
        Refusal(.conflict, "\(app) is already registered for attestations of the app.", state: "registered")
    }

    static func unknownAttestedApp(_ app: String) -> Refusal {
        Refusal(.notFound, "\(app) is not registered for attestations of the app. Check the spelling.")
    }
}
