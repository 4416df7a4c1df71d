import Authority
import Database
import Domain
import Repositories

/// An admin revokes one certificate. It is valid no more within a second on every node.
package struct RevokeDeviceCertificate: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// Revokes by serial number; with a compromised key everything that its holder may have.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` where it is revoked already.
    package func callAsFunction(serial: String, reason: RevocationReason) async throws {
        let actor = context.actor
        try await context.commit { transaction, events in
            try RevokeCertificate(reason: reason, actor: actor, transaction: transaction)(serial: serial, &events)
        }
    }
}
