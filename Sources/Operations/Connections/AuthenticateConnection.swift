import Database
import Domain
import Foundation
import Repositories

package extension Service {
    /// Verifies the certificate of a connection: once after the handshake, then on every request, from memory.
    ///
    /// - Throws: `Refusal` `certificate_revoked` or `unavailable`.
    func authenticate(_ connection: ClientConnection) async throws {
        try invalidator.requireFresh()
        let now = environment.now()
        if let (known, state) = connection.known {
            if known.isInDoubt { try await caches.certificates.settle([known]) }
            try require(known, at: now, of: connection)
            if state == .uncertified { connection.connect(known) }
            return
        }
        guard let found = try await caches.certificates.find(connection.thumbprint) else {
            throw Refusal.certificateUnknown
        }
        try require(found, at: now, of: connection)
        if found.certificate.firstSeenAt == nil { try await recordFirstSight(found.certificate) }
        connection.connect(found)
    }

    /// Whether an admitted connection is still valid, from memory alone; `false` if the call above would refuse it or
    /// needs the store.
    func isAuthenticated(_ connection: ClientConnection) -> Bool {
        guard invalidator.isFresh, invalidator.isClockRight,
            let (known, state) = connection.known, case .connected = state
        else { return false }
        return (try? known.requireValid(at: environment.now())) != nil
    }

    /// Admits a new connection whose certificate is cached, so that its first request need not wait. Does nothing if
    /// the call above would refuse it or needs the store.
    func admitFromMemory(_ connection: ClientConnection) {
        guard invalidator.isFresh, invalidator.isClockRight,
            let known = caches.certificates.known(connection.thumbprint),
            known.certificate.firstSeenAt != nil, (try? known.requireValid(at: environment.now())) != nil
        else { return }
        connection.connect(known)
    }

    private func require(
        _ certificate: CachedCertificate, at now: Date, of connection: ClientConnection
    ) throws(Refusal) {
        do throws(Refusal) {
            try certificate.requireValid(at: now)
        } catch {
            connection.revoke()
            throw error
        }
    }

    /// A renewal supersedes its predecessor when it is first used, which proves that the device received it.
    private func recordFirstSight(_ certificate: DeviceCertificate) async throws {
        try await write { transaction, events in
            let records = CertificateRepository(transaction)
            let now = transaction.now
            events.record(.certificateSeen(certificate.deviceID))
            guard try records.recordFirstSight(thumbprint: certificate.thumbprint, at: now) else {
                // Another node was faster, or the certificate was no longer admitted.
                guard let present = try records.find(thumbprint: certificate.thumbprint) else {
                    throw Refusal.certificateUnknown
                }
                if present.isUnadmitted { try present.requireValid(at: now) }
                return
            }
            guard let oldSerial = certificate.replaces, let old = try records.find(serial: oldSerial) else { return }
            try records.supersede(serial: oldSerial, at: now, byTheSameKey: old.keyHash == certificate.keyHash)
            // Until now the device had the attested key: its chain was compared with new lists of revoked ones.
            if old.attestation != .unattested, certificate.attestation == .unattested {
                try AttestationRepository(transaction).remove(of: certificate.deviceID)
            }
            let sessions = SessionRepository(transaction)
            try sessions.rebind(deviceID: certificate.deviceID, to: certificate.thumbprint)
            if old.keyHash != certificate.keyHash { try sessions.challenge(.device(certificate.deviceID), at: now) }
            events.record(
                .certificateSuperseded(oldSerial, by: certificate.serial, certificate.deviceID),
                by: "device \(certificate.deviceID)", because: "superseded")
        }
    }
}
