import Database
import Domain
import Repositories

/// The certificates that an admin sees.
package struct ListCertificates: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// The newest certificates.
    ///
    /// - Parameter cursor: the serial number of the last one on the page before.
    /// - Throws: `Refusal` `not_found` for a cursor that is gone.
    package func callAsFunction(limit: Int, after cursor: String? = nil) async throws -> [DeviceCertificate] {
        try await context.store.snapshot { try CertificateRepository($0).list(limit: limit, after: cursor) }
    }
}
