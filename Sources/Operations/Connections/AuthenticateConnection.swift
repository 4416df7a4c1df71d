import Database
import Domain
import Foundation
import Repositories
import Synchronization

/// Judges the certificate behind a connection: once after the handshake, then on every request, from memory.
package struct AuthenticateConnection: Sendable {
    private let store: any Database
    private let certificates: CertificateCache
    private let watch: CacheInvalidator
    private let environment: Environment

    /// Judges by a store's issuance table.
    package init(
        store: any Database, certificates: CertificateCache, watch: CacheInvalidator, environment: Environment
    ) {
        self.store = store
        self.certificates = certificates
        self.watch = watch
        self.environment = environment
    }

    /// The hot path of every request on the client listener.
    ///
    /// - Throws: `Refusal` `certificate_revoked` or `unavailable`.
    package func callAsFunction(_ connection: ClientConnection) async throws {
        try watch.requireFresh()
        let now = environment.now()
        if let live = connection.certificate { return try live.requireValid(at: now) }
        guard let live = try await certificates.find(connection.thumbprint) else {
            throw Self.unknown
        }
        try live.requireValid(at: now)
        if live.certificate.firstSeenAt == nil { try await recordFirstSight(live) }
        connection.certificate = live
    }

    private static let unknown = Refusal(
        .certificateRevoked, "This service did not issue the certificate: certify the device anew.")

    /// Whether a connection that was judged before still counts; one that was not yet is not this one's business.
    package func stillCounts(_ connection: ClientConnection) -> Bool {
        guard let live = connection.certificate, !connection.endsWithItsAnswer.load(ordering: .relaxed) else {
            return true
        }
        return (try? live.requireValid(at: environment.now())) != nil
    }

    /// A certificate that renews another supersedes it when it is first seen: the device has proved that it arrived.
    private func recordFirstSight(_ live: CachedCertificate) async throws {
        let certificate = live.certificate
        let auditID = environment.newUUID()
        try await store.transaction { transaction in
            let records = CertificateRepository(transaction)
            let now = transaction.now
            guard try records.recordFirstSight(thumbprint: certificate.thumbprint, at: now) else {
                // Another node was faster, or it was forgotten because nobody had shown it.
                guard try records.find(thumbprint: certificate.thumbprint) != nil else { throw Self.unknown }
                return
            }
            guard let oldSerial = certificate.replaces, let old = try records.find(serial: oldSerial) else { return }
            try records.supersede(serial: oldSerial, at: now, byTheSameKey: old.keyHash == certificate.keyHash)
            try SessionRepository(transaction).rebind(deviceID: certificate.deviceID, to: certificate.thumbprint)
            if old.keyHash != certificate.keyHash {
                try SessionRepository(transaction).challenge(.device(certificate.deviceID), at: now)
            }
            try AuditRepository(transaction).append(
                .certificateSuperseded, subject: "certificate \(oldSerial)", actor: "device \(certificate.deviceID)",
                detail: "by \(certificate.serial)", reason: "superseded", id: auditID)
            try ChangeLog(transaction).announce(.device(certificate.deviceID))
        }
        try await watch.apply(.device(certificate.deviceID))
    }
}
