import Database
import Domain
import Repositories

/// One device as an admin sees it.
package struct ReadDevice: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// A device with what hangs on it.
    package struct Detail: Sendable {
        package let summary: DeviceRepository.Summary
        package let hasPresenceKey: Bool
        /// Newest first.
        package let certificates: [DeviceCertificate]
        /// Its open sessions, newest first, 100 at most.
        package let sessions: [Session]
    }

    /// The device with an id.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ id: DeviceID) async throws -> Detail {
        try await context.store.snapshot { transaction in
            let devices = DeviceRepository(transaction)
            guard let summary = try devices.find(id) else { throw Refusal(.notFound, "There is no device \(id).") }
            return Detail(
                summary: summary, hasPresenceKey: try devices.presenceKey(of: id) != nil,
                certificates: try CertificateRepository(transaction).list(deviceID: id),
                sessions: try Array(SessionRepository(transaction).listOpen(.device(id)).reversed().prefix(100)))
        }
    }
}
