import Domain
import Encoding

extension Service {
    /// The administrator whose certificate a connection has. A removal is known to every node that serves requests
    /// within a second.
    ///
    /// - Throws: `Refusal` `certificate_revoked` for a certificate that is not valid, `unavailable` if the node's view of
    ///   the store is too old.
    func authenticateAdministrator(_ thumbprint: Digest256) async throws -> Administrator {
        try invalidator.requireFresh()
        guard let found = try await caches.administrators.find(thumbprint, at: environment.now()) else {
            throw Refusal.administratorCertificateInvalid
        }
        return found
    }
}
