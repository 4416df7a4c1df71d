import Foundation

/// How long data is kept after it is no longer needed: `Policies/retention.yaml`.
package struct RetentionPolicy: Sendable, Equatable {
    /// How long an expired certificate is kept. A device is deleted with its last certificate.
    package var endedCertificates: TimeInterval = 30 * 86_400
    /// How long after its issuance a certificate may be used for the first time. After that it is refused.
    package var unseenCertificates: TimeInterval = 30 * 86_400
    /// How long an authorization is kept after it was rejected, cancelled or expired.
    package var endedAuthorizations: TimeInterval = 365 * 86_400
    /// How long an attempt to sign in is recorded.
    package var signIns: TimeInterval = 30 * 86_400
    /// The shortest time that an audit entry is kept.
    package var auditEntries: TimeInterval = 730 * 86_400

    init() {}
}
