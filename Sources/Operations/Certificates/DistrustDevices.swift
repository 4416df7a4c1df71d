import Authority
import Database
import Domain
import Foundation
import Repositories

/// Compares the chains of attested devices with a new list of revoked certificates, in batches.
struct DistrustDevices {
    let action: CertificationPolicy.RevokedAction
    let transaction: any Transaction

    func callAsFunction(
        _ batch: MaintenanceBatch, _ events: inout RecordedEvents
    ) throws -> MaintenanceBatch.Outcome {
        let records = AttestationRepository(transaction)
        guard let times = try records.listTimes() else { return .all(0) }
        let due = try records.listUnchecked(since: times.changedAt, limit: batch.limit)
        guard !due.isEmpty, let list = AttestationStatusList(try records.list()) else { return .all(0) }
        for (device, serials) in due {
            guard list.contains(serials) else {
                try records.setChecked(device, withListOf: times.changedAt)
                continue
            }
            try records.distrust(device)
            try end(device, &events)
        }
        return MaintenanceBatch.Outcome(rows: due.count, reached: nil, isFinished: due.count < batch.limit)
    }

    private func end(_ device: DeviceID, _ events: inout RecordedEvents) throws {
        let serials = try CertificateRepository(transaction).list(deviceID: device).filter { $0.revoked == nil }
            .map(\.serial)
        events.record(.deviceDistrusted(device, action), by: "service")
        guard action != .revoke else { return try revoke(serials, of: device, &events) }
        // Few users share a device, and further ones learn it when their sessions are renewed.
        for holder in try SessionRepository(transaction).users(on: device, limit: NotifyOfRevocation.atOnce) {
            for serial in serials {
                events.record(.userAttestationRevoked(serial: serial, holder.user, of: holder.provider))
            }
        }
        if action == .challenge {
            try SessionRepository(transaction).challenge(.device(device), at: transaction.now)
        }
    }

    private func revoke(_ serials: [String], of device: DeviceID, _ events: inout RecordedEvents) throws {
        let notify = try NotifyOfRevocation(device, in: transaction)
        for serial in serials {
            _ = try CertificateRepository(transaction).revoke(
                serial: serial, at: transaction.now, reason: RevocationReason.privilegeWithdrawn.rawValue)
            events.record(
                .certificateRevoked(serial, device, detail: "device \(device)"), by: "service",
                because: AuditReason(RevocationReason.privilegeWithdrawn.rawValue))
        }
        try notify.keep(serials)
        try RevokeSessions(transaction: transaction)(.device(device), .deviceRevoked, &events)
        notify(serials, &events)
    }
}
