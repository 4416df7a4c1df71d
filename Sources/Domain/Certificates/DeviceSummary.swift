import Foundation

/// A device as admins see it.
package struct DeviceSummary: Sendable {
    package let id: DeviceID
    /// When it was first certified.
    package let createdAt: Date
    /// The user agent that it sent, if any.
    package let userAgent: String?
    /// What the maker of the device attested about its key.
    package let attestation: DeviceAttestation.Level
    /// Whether it has a key that can only be used while the user is present.
    package let hasPresenceKey: Bool
    /// Its certificates that are valid now.
    package let certificates: Int
    /// Its sessions that were not ended, including expired ones, counted up to one more than ``BoundedCount/most``.
    package let sessions: Int

    package init(
        id: DeviceID, createdAt: Date, userAgent: String?, attestation: DeviceAttestation.Level, hasPresenceKey: Bool,
        certificates: Int, sessions: Int
    ) {
        self.id = id
        self.createdAt = createdAt
        self.userAgent = userAgent
        self.attestation = attestation
        self.hasPresenceKey = hasPresenceKey
        self.certificates = certificates
        self.sessions = sessions
    }
}
