import Authority
import Database
import Domain
import Repositories
import Synchronization

extension Service {
    /// Revokes the certificate of a connection, within a second on every node. The device's sessions end, and the
    /// connection ends with its answer.
    ///
    /// - Throws: `Refusal` `conflict` where it is revoked already.
    package func revokeOwnCertificate(of connection: ClientConnection) async throws {
        guard let certificate = connection.certificate?.certificate else { return }
        connection.endsWithItsAnswer.store(true, ordering: .relaxed)
        try await write { transaction, events in
            try RevokeCertificate(
                reason: .cessationOfOperation, actor: "device \(certificate.deviceID)", transaction: transaction
            )(serial: certificate.serial, &events)
        }
        connection.revoke()
    }
}
