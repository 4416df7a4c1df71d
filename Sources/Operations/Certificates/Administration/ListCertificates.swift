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
    package func callAsFunction(limit: Int) async throws -> [DeviceCertificate] {
        try await context.store.snapshot { try CertificateRepository($0).list(limit: limit) }
    }
}
