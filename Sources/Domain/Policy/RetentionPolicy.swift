import Foundation

/// How long data is kept that nothing needs any more: `Policies/retention.yaml`.
package struct RetentionPolicy: Sendable, Equatable {
    /// How long an expired certificate is kept. Its device is deleted with its last certificate.
    package var endedCertificates: TimeInterval = 30 * 86_400
    /// How long after its issue a certificate may be shown for the first time. Later it admits nobody.
    package var unseenCertificates: TimeInterval = 30 * 86_400
    /// How long an authorization is kept after it was rejected, cancelled or expired.
    package var endedAuthorizations: TimeInterval = 365 * 86_400
    /// The shortest time that an audit entry is kept.
    package var auditEntries: TimeInterval = 730 * 86_400

    package init() {}
}
