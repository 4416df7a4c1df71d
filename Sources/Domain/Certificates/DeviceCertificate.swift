import Encoding
import Foundation

/// A certificate that the internal CA issued: a row of the issuance table.
package struct DeviceCertificate: Sendable, Equatable {
    /// The serial number: the bytes of its DER encoding in lower-case hexadecimal.
    package let serial: String
    /// SHA-256 of its DER form (RFC 8705 §3.1).
    package let thumbprint: Digest256
    package let deviceID: DeviceID
    /// The SHA-256 of its DER SubjectPublicKeyInfo.
    package let keyHash: Digest256
    /// The start of its validity, backdated for slow clocks.
    package let notBefore: Date
    package let notAfter: Date
    package let issuedAt: Date
    /// The serial number of the certificate that this one renews.
    package let replaces: String?
    /// What the maker of the device attested about its key.
    package var attestation: DeviceAttestation.Level
    /// When it was first shown in a handshake.
    package var firstSeenAt: Date?
    /// When it was revoked and the reason.
    package var revoked: Revocation?

    package init(
        serial: String, thumbprint: Digest256, deviceID: DeviceID, keyHash: Digest256, notBefore: Date, notAfter: Date,
        issuedAt: Date, replaces: String?, attestation: DeviceAttestation.Level = .unattested, firstSeenAt: Date?,
        revoked: Revocation?
    ) {
        self.serial = serial
        self.thumbprint = thumbprint
        self.deviceID = deviceID
        self.keyHash = keyHash
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.issuedAt = issuedAt
        self.replaces = replaces
        self.attestation = attestation
        self.firstSeenAt = firstSeenAt
        self.revoked = revoked
    }
}

package extension DeviceCertificate {
    /// A certificate's revocation before its expiry.
    struct Revocation: Sendable, Equatable {
        package let at: Date
        /// The CRL reason (RFC 5280 §5.3.1), such as `keyCompromise` or `superseded`.
        package let reason: String

        package init(at: Date, reason: String) {
            self.at = at
            self.reason = reason
        }
    }

    /// Whether it was not shown in time, or another was issued in its place. It is refused, and the revocation list
    /// does not contain it.
    var isUnadmitted: Bool { firstSeenAt == nil && revoked?.reason == "superseded" }

    /// When the device may renew it: after two thirds of its lifetime, in whole seconds as in responses.
    var renewAfter: Date {
        let exact = issuedAt.addingTimeInterval(notAfter.timeIntervalSince(issuedAt) * 2 / 3)
        return Date(timeIntervalSince1970: exact.timeIntervalSince1970.rounded(.up))
    }

    /// Checks validity and revocation on every request: a resumed TLS connection never repeats the handshake's check.
    ///
    /// - Throws: ``Refusal`` `certificate_revoked`; its sentence names the reason.
    func requireValid(at now: Date) throws(Refusal) {
        if isUnadmitted {
            throw Refusal.certificateUnadmitted
        }
        if let revoked {
            let superseded = revoked.reason == "superseded"
            throw superseded ? Refusal.certificateSuperseded : .certificateRevoked
        }
        guard now < notAfter else {
            throw Refusal.certificateExpired(at: notAfter)
        }
    }
}
