import Encoding
import Foundation

/// Refusals of devices and their certificates.
package extension Refusal {
    static let certificateUnknown = Refusal(
        .certificateRevoked, "This service did not issue the certificate. Certify the device again.")

    static let connectionWithoutCertificate = Refusal(
        .certificateRevoked, "The connection has no valid client certificate. Connect again.")

    static let certificateUnadmitted = Refusal(
        .certificateRevoked,
        "The certificate was not used in time, or another was issued in its place. Certify the device again.")

    static let certificateSuperseded = Refusal(
        .certificateRevoked, "The certificate was superseded by its renewal. Connect with the new one.")

    static let certificateRevoked = Refusal(
        .certificateRevoked, "The certificate was revoked. Certify the device again.")

    static let certificateRevokedOrSuperseded = Refusal(
        .certificateRevoked,
        "The certificate was revoked or superseded. Connect with its renewal, or certify the device again.")

    static func certificateExpired(at time: Date) -> Refusal {
        Refusal(.certificateRevoked, "The certificate expired at \(time.rfc3339). Certify the device again.")
    }

    static func renewalNotDue(until time: Date) -> Refusal {
        Refusal(
            .conflict, "The certificate cannot be renewed before \(time.rfc3339). Renew it then.", state: "not_due")
    }

    static let certificateInDoubt = Refusal(
        .unavailable, "This node is reading the certificate again. Nothing was changed. Try again.", retryAfter: 1)

    static func unknownCertificate(serial: String) -> Refusal {
        Refusal(.notFound, "There is no certificate with the serial number \(quoted(serial)). Check the number.")
    }

    static let alreadyRevoked = Refusal(
        .conflict, "The certificate is already revoked. Nothing was changed.", state: "revoked")

    static func unknownDevice(_ id: DeviceID) -> Refusal {
        Refusal(.notFound, "There is no device \(id). Check the id.")
    }

    static let deviceAlreadyRevoked = Refusal(
        .conflict, "All certificates of the device are already revoked. Nothing was changed.", state: "revoked")

    static let noFreeDeviceID = Refusal(
        .unavailable, "No device id is free at this moment. Nothing was changed. Try again.", retryAfter: 1)

    static let enrolmentTokenUsed = Refusal(
        .invalidCSR, "The enrolment token was used before. Get a new one from the provider.", reason: .gate)

    static let enrolmentTokenRequired = Refusal(
        .invalidCSR, "The enrolment token is missing. Get one from a provider.", reason: .gate, about: .enrolmentToken)

    /// - Parameter defect: a sentence that says what is wrong with the token.
    static func enrolmentTokenUnreadable(_ defect: String) -> Refusal {
        Refusal(.invalidCSR, defect, reason: .gate, about: .enrolmentToken)
    }

    static func enrolmentTokenInvalid(_ defect: String) -> Refusal {
        Refusal(.invalidCSR, "The enrolment token is not valid. \(defect)", reason: .gate)
    }

    static let captchaRequired = Refusal(
        .invalidCSR, "The captcha is missing. Send a solved one.", reason: .gate, about: .captcha)

    static let captchaRejected = Refusal(
        .invalidCSR, "The captcha was not accepted. Solve another one.", reason: .gate)

    static func captchaUnavailable(_ privateDetail: String) -> Refusal {
        Refusal(
            .unavailable, "The captcha cannot be checked at the moment. Nothing was changed. Try again.",
            retryAfter: 5, privateDetail: privateDetail)
    }

    static func unreadablePresenceKey(_ defect: String) -> Refusal {
        Refusal(.malformedRequest, defect, about: .presenceKey)
    }

    static let keyCertified = Refusal(
        .invalidCSR, "Another certificate has this key. Make a new key.", reason: .keyInUse)

    static let keyRevoked = Refusal(
        .invalidCSR, "This key was revoked. Make a new key.", reason: .keyRevoked)

    static let keyBanned = Refusal(
        .invalidCSR, "This key or device is banned. Certify another device.", reason: .keyRevoked)

    static func authorityUnavailable(_ privateDetail: String? = nil) -> Refusal {
        Refusal(
            .unavailable, "The authority cannot sign at this moment. Nothing was changed. Try again.", retryAfter: 5,
            privateDetail: privateDetail)
    }

    static let revocationListChanging = Refusal(
        .unavailable, "The revocation list is changing too quickly. Try again.", retryAfter: 1)

    static let unknownAuthority = Refusal(
        .notFound,
        "The service trusts no such authority. Use the URL in the certificate, or leave out authority.")

    // Certification requests.

    /// - Parameter defect: a sentence that says what is wrong with the request.
    static func invalidCSR(_ reason: Reason, _ defect: String) -> Refusal {
        Refusal(.invalidCSR, defect, reason: reason)
    }

    static let csrNotDER = Refusal(
        .invalidCSR, "The request is not a CertificationRequest in DER (RFC 2986 §4.2). Make a new one.",
        reason: .malformed)

    /// A PEM document or a Layer CSR that was base64-encoded once more.
    static let csrEncodedTwice = Refusal(
        .invalidCSR, "The base64 contains text. Send that text itself, a PEM document or a Layer CSR.",
        reason: .malformed)

    static let csrTooLong = Refusal(
        .invalidCSR, "The request has more than \(PEM.maximumLength) bytes. Leave out extensions.", reason: .malformed)

    static let csrWithPrivateKey = Refusal(
        .invalidCSR,
        "The text contains a private key. Regard it as leaked. Make a new key pair, and send only the certification "
            + "request.", reason: .malformed)

    static let csrUnreadable = Refusal(
        .invalidCSR,
        "The request is not a PEM document CERTIFICATE REQUEST (RFC 7468), its base64 alone, or a Layer CSR of three "
            + "parts with dots between them. Send one of these.", reason: .malformed)

    static let csrAlgorithmUnsupported = Refusal(
        .invalidCSR,
        "The signature algorithm is not supported. Sign with ECDSA or RSA (PKCS#1 v1.5) and SHA-256, SHA-384 or SHA-512.",
        reason: .badProof)

    static let csrSignatureInvalid = Refusal(
        .invalidCSR, "The request's signature was not made with the key in the request. Sign with that key.",
        reason: .badProof)

    static let csrKeyUnsupported = Refusal(
        .invalidCSR, "The key's type is not supported. Use RSA, P-256 or P-384.", reason: .unsupportedKey)

    static func csrContentType(expected: String) -> Refusal {
        Refusal(.invalidCSR, "The header's cty is wrong. It must be \(expected).", reason: .malformed)
    }

    static let csrKeyTypeMismatch = Refusal(
        .invalidCSR, "The claim pka does not match alg. RSA needs RS256, EC needs ES256.", reason: .malformed)

    static let csrAlgorithmUnknown = Refusal(
        .invalidCSR, "The header's alg is wrong. It must be RS256 or ES256.", reason: .malformed)

    static let csrKeyUnreadable = Refusal(
        .invalidCSR, "The claim pky is not base64. It must be that of a SubjectPublicKeyInfo.", reason: .malformed)

    // Attestations, in the sentences of the check that failed.

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

    /// It never means that a device is not attested.
    static let attestationStatusUnknown = Refusal(
        .unavailable, "The list of revoked attestations is not available. Nothing was changed. Try again.",
        retryAfter: 60)

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
        Refusal(
            .conflict, "\(app) is already registered for attestations of the app. Nothing is left to add.",
            state: "registered")
    }

    static func unknownAttestedApp(_ app: String) -> Refusal {
        Refusal(.notFound, "\(app) is not registered for attestations of the app. Check the spelling.")
    }
}
