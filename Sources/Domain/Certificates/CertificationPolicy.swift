import Foundation

/// The conditions for a certificate, and its contents: `Policies/certification.yaml`.
package struct CertificationPolicy: Sendable, Equatable {
    /// What a requester must pass before the authority signs.
    package var gate = Gate.open
    /// Certificates per hour for one requester.
    package var perHourPerSender = NetworkLimits(perAddress: 30, per56: 60, per48: 240)
    /// Certificates per hour for all requesters together, if the gate is open.
    package var openPerHour = 3000
    /// Renewals in 24 hours for one device.
    package var renewalsPerDay = 3
    /// The lifetime of a certificate; it never exceeds the authority's own.
    package var validity: TimeInterval = 365 * 86_400
    /// The object identifier of the certificate policy (RFC 5280 §4.2.1.4); empty for none.
    package var policyOID = ""
    /// The URL of the siteverify endpoint that checks captchas.
    package var captchaURL = ""
    /// The file with the siteverify secret.
    package var captchaSecretFile = ""
    /// Which attestations are accepted, and what becomes of other devices.
    package var attestation = AttestationRules()

    init() {}
}

package extension CertificationPolicy {
    /// Whether some requests pass by a captcha alone.
    var requiresCaptcha: Bool { gate == .captcha || (gate == .attested && attestation.fallback == .captcha) }

    /// What a requester must pass before the authority signs.
    enum Gate: String, Sendable, CaseIterable {
        case open
        /// A valid enrolment token that a provider signed.
        case provider
        /// A captcha that the siteverify endpoint accepted.
        case captcha
        /// A key that the maker of the device attested.
        case attested
    }
}
