import Foundation

/// How long is kept what nothing needs any more: `Policies/retention.yaml`.
package struct RetentionPolicy: Sendable, Equatable {
    /// How long a certificate is kept after it ran out, and with its last one its device.
    package var endedCertificates: TimeInterval = 30 * 86_400
    /// How long a certificate is kept that no connection has shown, and with it its device.
    package var unseenCertificates: TimeInterval = 30 * 86_400
    /// How long an entry of the audit log is kept at least.
    package var auditEntries: TimeInterval = 730 * 86_400

    package init() {}
}
