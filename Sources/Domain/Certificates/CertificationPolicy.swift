import Foundation

/// Who may get a certificate, and what it says: `Policies/certification.yaml`.
public struct CertificationPolicy: Sendable, Equatable {
    /// What stands before the authority.
    public enum Gate: String, Sendable, CaseIterable {
        /// Anyone, limited by address.
        case open
        /// Holders of an enrolment token that a provider signed.
        case provider
        /// Holders of a solved captcha.
        case captcha
    }

    /// What stands before the authority.
    public var gate = Gate.open
    /// Certificates per hour for one address (/32 of IPv4, /64 of IPv6).
    public var perHourPerAddress = 30
    /// Certificates per hour for one IPv6 network of /56.
    public var perHourPer56 = 60
    /// Certificates per hour for one IPv6 network of /48.
    public var perHourPer48 = 240
    /// Certificates per hour for all together, where the gate is open.
    public var openPerHour = 3000
    /// Renewals in 24 hours for one device.
    public var renewalsPerDay = 3
    /// The life of a certificate; never beyond the authority's own.
    public var validity: TimeInterval = 365 * 86_400
    /// The certificate policy's object identifier (RFC 5280 §4.2.1.4); empty where certificates name none.
    public var policyOID = ""
    /// The siteverify endpoint that judges captchas.
    public var captchaURL = ""
    /// The file that holds the siteverify secret.
    public var captchaSecretFile = ""

    public init() {}
}
