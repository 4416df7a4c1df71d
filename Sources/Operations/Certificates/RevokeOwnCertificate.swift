import Authority
import Database
import Domain
import Repositories
import Synchronization

/// A device gives up its own certificate; its sessions end. It is valid no more from the commit on here, within a second
/// everywhere.
package struct RevokeOwnCertificate: Sendable {
    private let context: ServiceContext

    package init(_ context: ServiceContext) {
        self.context = context
    }

    /// Revokes the certificate behind a connection, which ends with its answer.
    ///
    /// - Throws: `Refusal` `conflict` where it is revoked already.
    package func callAsFunction(of connection: ClientConnection) async throws {
        guard let certificate = connection.certificate?.certificate else { return }
        connection.endsWithItsAnswer.store(true, ordering: .relaxed)
        try await context.commit { transaction, events in
            try RevokeCertificate(
                reason: .cessationOfOperation, actor: "device \(certificate.deviceID)", transaction: transaction
            )(serial: certificate.serial, &events)
        }
        connection.revoke()
    }
}
