import Encoding
import Foundation

/// A certificate that the internal CA issued, as the issuance table knows it.
package struct DeviceCertificate: Sendable, Equatable {
    /// The serial number, lower-case hexadecimal without leading zeros beyond what DER has.
    package let serial: String
    /// SHA-256 of its DER form (RFC 8705 §3.1).
    package let thumbprint: Digest256
    package let deviceID: DeviceID
    /// SHA-256 of its SubjectPublicKeyInfo.
    package let keyHash: Digest256
    /// From when it is valid, backdated for slow clocks.
    package let notBefore: Date
    package let notAfter: Date
    package let issuedAt: Date
    /// The certificate that this one renews, by serial number.
    package let replaces: String?
    /// When it was first shown in a handshake.
    package var firstSeenAt: Date?
    /// When it was revoked, with the reason in RFC 5280 §5.3.1's words.
    package var revoked: Revocation?

    /// That a certificate ended before its time.
    package struct Revocation: Sendable, Equatable {
        package let at: Date
        /// Why, such as `keyCompromise` or `superseded`.
        package let reason: String

        package init(at: Date, reason: String) {
            self.at = at
            self.reason = reason
        }
    }

    /// Joins the parts, as read from a row or decided at issuance.
    package init(
        serial: String, thumbprint: Digest256, deviceID: DeviceID, keyHash: Digest256, notBefore: Date, notAfter: Date,
        issuedAt: Date, replaces: String?, firstSeenAt: Date?, revoked: Revocation?
    ) {
        self.serial = serial
        self.thumbprint = thumbprint
        self.deviceID = deviceID
        self.keyHash = keyHash
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.issuedAt = issuedAt
        self.replaces = replaces
        self.firstSeenAt = firstSeenAt
        self.revoked = revoked
    }

    /// From when on it may be renewed: two thirds of its life, in whole seconds, as it is told.
    package var renewAfter: Date {
        let exact = issuedAt.addingTimeInterval(notAfter.timeIntervalSince(issuedAt) * 2 / 3)
        return Date(timeIntervalSince1970: exact.timeIntervalSince1970.rounded(.up))
    }

    /// Evaluates it at a moment, on every request: a resumed TLS connection never passes the handshake's own check.
    ///
    /// - Throws: ``Refusal`` `certificate_revoked`, whose sentence says which of the reasons it is.
    package func requireValid(at now: Date) throws(Refusal) {
        if let revoked {
            let superseded = revoked.reason == "superseded"
            throw Refusal(
                .certificateRevoked,
                superseded
                    ? "This certificate was superseded by its renewal: connect with the new one."
                    : "This certificate was revoked: certify the device anew.")
        }
        guard now < notAfter else {
            throw Refusal(
                .certificateRevoked, "This certificate expired at \(notAfter.rfc3339): certify the device anew.")
        }
    }
}
