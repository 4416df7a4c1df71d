import Foundation

/// How long is kept what nothing needs any more: `Policies/retention.yaml`.
public struct RetentionPolicy: Sendable, Equatable {
    /// How long a certificate is kept after it ran out, and with its last one its device.
    public var endedCertificates: TimeInterval = 30 * 86_400
    /// How long a certificate is kept that no connection has shown, and with it its device.
    public var unseenCertificates: TimeInterval = 30 * 86_400
    /// How long an entry of the audit log is kept at least.
    public var auditEntries: TimeInterval = 730 * 86_400

    public init() {}
}
