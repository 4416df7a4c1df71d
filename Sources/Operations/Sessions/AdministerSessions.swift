import Authority
import Database
import Domain
import Foundation
import Repositories

/// What admins do to sessions, and see of certificates, from the command line.
package struct AdministerSessions: Sendable {
    private let store: any Database
    private let environment: Environment
    private let actor: String

    /// Works on a store in an admin's name.
    package init(store: any Database, environment: Environment, actor: String) {
        self.store = store
        self.environment = environment
        self.actor = actor
    }

    /// The newest sessions that were not ended.
    package func list(limit: Int) async throws -> [Session] {
        try await store.snapshot { try SessionRepository($0).listOpen(limit: limit) }
    }

    /// The session with an id, ended ones too.
    package func show(_ id: SessionID) async throws -> Session {
        guard let session = try await store.snapshot({ try SessionRepository($0).find(id) }) else {
            throw Refusal(.notFound, "There is no session \(id).")
        }
        return session
    }

    /// Challenges a session: its user must prove who they are again.
    package func challenge(_ id: SessionID, reason: AuditReason? = nil) async throws {
        try await change(id, .sessionChallenged, event: .challenge, reason) { records, session, now in
            try records.challenge(.session(session.id), at: now)
        }
    }

    package func end(_ id: SessionID, reason: AuditReason? = nil) async throws {
        try await change(id, .sessionEnded, event: .destroy, reason) { records, session, now in
            try records.end(.session(session.id), at: now, reason: "ended by an admin")
        }
    }

    /// The newest certificates.
    package func listCertificates(limit: Int) async throws -> [DeviceCertificate] {
        try await store.snapshot { try CertificateRepository($0).list(limit: limit) }
    }

    /// The certificate with a serial number in any usual form.
    package func showCertificate(_ serial: String) async throws -> DeviceCertificate {
        guard let canonical = IssuedCertificate.canonicalSerial(serial),
            let certificate = try await store.snapshot({ try CertificateRepository($0).find(serial: canonical) })
        else { throw Refusal(.notFound, "There is no certificate with the serial number \(serial).") }
        return certificate
    }

    /// What was renewed from a certificate, and from that, oldest first.
    package func successors(of certificate: DeviceCertificate) async throws -> [DeviceCertificate] {
        let all = try await store.snapshot { try CertificateRepository($0).list(deviceID: certificate.deviceID) }
        return CertificateLineage(all).successors(of: certificate.serial)
    }

    private func change(
        _ id: SessionID, _ audit: AuditRepository.Event, event: SessionState.Event,
        _ reason: AuditReason?, _ act: @escaping @Sendable (SessionRepository, Session, Date) throws -> Int
    ) async throws {
        let auditID = environment.newUUID()
        try await store.transaction { transaction in
            let records = SessionRepository(transaction)
            guard let session = try records.find(id) else {
                throw Refusal(.notFound, "There is no session \(id).")
            }
            guard session.state.after(event, while: .connected) != nil,
                try act(records, session, transaction.now) > 0
            else {
                throw Refusal(.conflict, "The session is \(session.state.rawValue).", state: session.state.rawValue)
            }
            try AuditRepository(transaction).append(
                audit, subject: "session \(id)", actor: actor, reason: reason, id: auditID)
            try ChangeLog(transaction).announce(.session(session.tokenHash))
        }
    }
}
