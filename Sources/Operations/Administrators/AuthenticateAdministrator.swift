import Domain
import Encoding
import Foundation

package extension Service {
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

    /// Counts that an administrator looks at the data of a person, in this process's memory. A person at whom the
    /// administrator looked within an hour is free.
    ///
    /// - Parameters:
    ///   - name: a digest of what leads to the person.
    ///   - users: the users whose data is shown, if they are known. Several are one look.
    /// - Throws: `Refusal` `rate_limited`.
    func countLook(at name: Digest256, of users: [UserID], by administrator: Administrator) throws(Refusal) {
        guard rateLimiting == .on else { return }
        try node.looks.count(name, of: users, by: administrator, now: environment.now())
    }

    /// The administrators whose looks were refused on this node in the last day, by name, with the last time.
    func refusedLooks() -> [(name: String, at: Date)] { node.looks.refused(since: environment.now() - 86_400) }
}
