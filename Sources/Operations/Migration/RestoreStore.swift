import Authority
import Database
import Domain
import Encoding
import Foundation
import Repositories

/// Prepares a copy of a store to replace the current one, without undoing later revocations.
///
/// All sessions end, nonces get a new generation, unsent messages are dropped. If the replaced store can still be read,
/// its later erasures, bans and revocations are replayed. These include certificates, provider keys, disabled
/// providers, messages and streams deleted for all or for one user, and permissions that users revoked. They also include
/// removals of administrators, receivers, URLs and client ids that providers lost, spent one-time tokens, and the number
/// of the revocation list.
package struct RestoreStore: Sendable {
    private let restored: any Database
    private let replaced: (any Database)?
    private let keys: PersonalKeys
    private let environment: Environment
    private let actor: String

    /// - Parameter replaced: the store that is replaced; `nil` if it is lost.
    package init(
        restored: any Database, replaced: (any Database)?, keys: PersonalKeys, environment: Environment,
        actor: String
    ) {
        self.restored = restored
        self.replaced = replaced
        self.keys = keys
        self.environment = environment
        self.actor = actor
    }
}

package extension RestoreStore {
    /// The changes of the copy.
    struct Report: Sendable, Equatable {
        package var sessionsEnded = 0
        package var messagesDropped = 0
        /// The number of users who were erased again.
        package var erased = 0
        /// The number of bans that were added or lifted again.
        package var bans = 0
        /// The number of certificates that were revoked again.
        package var certificatesRevoked = 0
        /// The number of provider keys that were retired or revoked again.
        package var providerKeysEnded = 0
        /// The number of providers that were disabled again.
        package var providersDisabled = 0
        /// The number of permissions, memberships and findable addresses that were revoked again, and of blocks.
        package var withdrawals = 0
        /// Webhooks, streams of security events and URLs of backends that were removed again, in words.
        package var receivers: [String] = []

        init() {}
    }

    /// Prepares the copy, in one transaction.
    ///
    /// - Throws: `StoreError`.
    func callAsFunction(reason: AuditReason?) async throws -> Report {
        // Without a time limit, because a large store takes long.
        try await restored.alter(try await decision(reason: reason))
    }

    /// The changes to make, for a transaction that also makes others.
    ///
    /// - Throws: `StoreError` if the replaced store cannot be read, or if a newer build has migrated one of the two, in
    ///   whose tables may be revocations that this build does not know.
    func decision(reason: AuditReason?) async throws -> @Sendable (any Transaction) throws -> Report {
        for store in [restored] + [replaced].compactMap(\.self) {
            _ = try await store.pendingMigrations(of: Schema.migrations, acceptsNewer: false)
        }
        let losses = try await replaced?.alter { [keys] in try Losses(of: $0, keys: keys) }
        let (generation, auditID) = (environment.newUUID(), environment.newUUID())
        return { transaction in
            let records = RestoreRepository(transaction)
            var report = Report()
            try BulkRevocationRepository(transaction).deleteAll()
            report.sessionsEnded = try SessionRepository(transaction).endAllAfterRestore(at: transaction.now)
            report.messagesDropped = try records.dropUnsentMessages()
            try records.endPhoneVerifications()
            try records.deletePushEndpoints()
            // An act that was confirmed or refused since would wait again.
            try WaitingActRepository(transaction).delete(through: .distantFuture)
            try records.beginNonceGeneration(generation)
            // A node that was suspended meanwhile may have read changes that this store never had.
            try transaction.renewChangeLog()
            // Nodes that served the store when the copy was made do not serve this one.
            try ClusterMemberRepository(transaction).purge(unseenSince: .distantFuture)
            let head = try AuditChainRepository(transaction).head().chain
            var detail = "copy ends at audit entry \(head.sequence)"
            if let losses {
                try replay(losses, in: transaction, &report)
                detail += ", replaced store at \(losses.audit.sequence) with digest \(losses.audit.digest.base64URL)"
            } else {
                try skipListNumbers(transaction)
            }
            try AuditRepository(transaction).append(
                .storeRestored, subject: .store, actor: actor, detail: detail, reason: reason, id: auditID)
            return report
        }
    }

    /// A revoked certificate as the replaced store has it.
    private struct RevokedRow: Sendable {
        let certificate: DeviceCertificate
        let subjectPublicKeyInfo: [UInt8]
        let authority: Digest256
    }

    /// Revocations and erasures in the replaced store.
    private struct Losses: Sendable {
        let erasures: [(user: UserID, entry: String?)]
        let revoked: [RevokedRow]
        let revokedKeys: [Digest256]
        let lists: [RevocationListRepository.Published]
        let providerKeys: [(id: ProviderKeyID, retiredAt: Date?, revokedAt: Date?)]
        let disabled: [Provider]
        let spent: [(identifier: String, expiresAt: Date)]
        let bans: ReplayBans
        let withdrawals: ReplayWithdrawals
        let receivers: ReplayReceivers
        let clients: ReplayIssuerClients
        let administrators: ReplayAdministrators
        let streams: [(id: MessageStreamID, at: Date)]
        let messages: [StreamMessageRepository.Deletion]
        let copies: [MessageMetadataRepository.DeletedCopy]
        let audit: AuditChain

        init(of transaction: any Transaction, keys: PersonalKeys) throws {
            let records = RestoreRepository(transaction)
            erasures = try records.erasures()
            let certificates = CertificateRepository(transaction)
            revoked = try certificates.listRevoked(now: transaction.now).filter { !$0.isUnadmitted }.map {
                RevokedRow(
                    certificate: $0,
                    subjectPublicKeyInfo: try certificates.subjectPublicKeyInfo(serial: $0.serial) ?? [],
                    authority: try certificates.authority(serial: $0.serial) ?? .of(""))
            }
            revokedKeys = try CertificateUpkeep(transaction).revokedKeys()
            lists = try RevocationListRepository(transaction).all()
            providerKeys = try records.endedProviderKeys()
            disabled = try ProviderRepository(transaction).list().filter { $0.disabledAt != nil }
            spent = try records.spentIdentifiers()
            bans = try ReplayBans(of: transaction, keys: keys)
            withdrawals = try ReplayWithdrawals(of: transaction)
            receivers = try ReplayReceivers(of: transaction)
            clients = try ReplayIssuerClients(of: transaction)
            administrators = try ReplayAdministrators(of: transaction)
            streams = try MessageStreamRepository(transaction).deletions()
            messages = try StreamMessageRepository(transaction).deletions()
            copies = try MessageMetadataRepository(transaction).deletedCopies()
            audit = try AuditChainRepository(transaction).head().chain
        }
    }

    private func replay(_ losses: Losses, in transaction: any Transaction, _ report: inout Report) throws {
        let records = RestoreRepository(transaction)
        let audit = AuditRepository(transaction)
        report.erased = try erase(losses.erasures, in: transaction)
        report.bans = try losses.bans(in: transaction, actor: actor, environment: environment)
        for row in losses.revoked {
            let certificate = row.certificate
            guard let revoked = certificate.revoked, try revoke(row, revoked, in: transaction) else { continue }
            report.certificatesRevoked += 1
            try audit.append(
                .certificateRevoked, subject: AuditSubject(.certificate, certificate.serial), actor: actor,
                detail: "again after a restore", reason: AuditReason(revoked.reason), id: environment.newUUID())
        }
        for key in losses.revokedKeys { try CertificateUpkeep(transaction).keep(revoked: key) }
        for key in losses.providerKeys {
            guard try records.end(key.id, retiredAt: key.retiredAt, revokedAt: key.revokedAt) else { continue }
            report.providerKeysEnded += 1
            try audit.append(
                key.revokedAt == nil ? .providerKeyRetired : .providerKeyRevoked, subject: AuditSubject(.key, key.id),
                actor: actor, detail: "again after a restore", id: environment.newUUID())
        }
        let providers = ProviderRepository(transaction)
        for provider in losses.disabled {
            guard let present = try providers.find(provider.id), present.disabledAt == nil else { continue }
            try providers.setDisabled(provider.id, at: provider.disabledAt)
            report.providersDisabled += 1
            try audit.append(
                .providerDisabled, subject: AuditSubject(.provider, provider.id), actor: actor,
                detail: "again after a restore", id: environment.newUUID())
        }
        for one in try losses.administrators(in: transaction) {
            try audit.append(
                one.removedAt == nil ? .administratorAdded : .administratorRemoved,
                subject: AuditSubject(.administrator, one.id), actor: actor,
                detail: "\(one.name), role \(one.role.rawValue), again after a restore", id: environment.newUUID())
        }
        for (identifier, expiry) in losses.spent { try records.spend(identifier, until: expiry) }
        for (id, time) in losses.streams { _ = try MessageStreamRepository(transaction).delete(id, at: time) }
        for deletion in losses.messages { try delete(deletion, transaction) }
        for copy in losses.copies { try MessageMetadataRepository(transaction).delete(again: copy) }
        report.withdrawals = try losses.withdrawals(in: transaction)
        for removal in try losses.receivers(in: transaction) + losses.clients(in: transaction) {
            report.receivers.append("provider \(removal.provider): \(removal.what)")
            try audit.append(
                .providerChanged, subject: AuditSubject(.provider, removal.provider), actor: actor,
                detail: "\(removal.what), removed again after a restore", id: environment.newUUID())
        }
        let lists = RevocationListRepository(transaction)
        for list in losses.lists where list.number > (try lists.heading(of: list.authority)?.number ?? 0) {
            try publish(list, number: list.number, transaction)
        }
    }

    /// Publishes a list again. It is unknown whether it is complete, so the next one is made. A list's number never falls
    /// (RFC 5280 §5.2.3).
    private func publish(
        _ list: RevocationListRepository.Published, number: Int64, _ transaction: any Transaction
    ) throws {
        try RevocationListRepository(transaction).publish(
            .init(
                authority: list.authority, number: number, der: list.der, entries: list.entries,
                thisUpdate: list.thisUpdate, revocations: -1))
    }

    /// Skips the numbers of lists that the lost store may have published: at most one in each millisecond. Otherwise
    /// readers would ignore new lists as older than theirs.
    private func skipListNumbers(_ transaction: any Transaction) throws {
        for list in try RevocationListRepository(transaction).all() {
            let age = max(0, transaction.now.timeIntervalSince(list.thisUpdate))
            let (number, isTooLarge) = list.number.addingReportingOverflow(Int64(saturating: age * 1000))
            guard !isTooLarge else { continue }
            try publish(list, number: number, transaction)
        }
    }

    /// Deletes a message again. Devices learn of it, because after a restore they synchronize everything.
    private func delete(_ deletion: StreamMessageRepository.Deletion, _ transaction: any Transaction) throws {
        let messages = StreamMessageRepository(transaction)
        guard let message = try messages.find(deletion.message, in: deletion.stream), message.sealedBody != nil else {
            return
        }
        let released = try messages.deleteBody(message, expiry: deletion.expiry)
        try StreamUserRepository(transaction).release(bytes: released)
    }

    /// Revokes a certificate again. A certificate that was issued since the copy is added with its revocation, so the
    /// revocation list contains it and its key stays refused.
    private func revoke(
        _ row: RevokedRow, _ revoked: DeviceCertificate.Revocation, in transaction: any Transaction
    ) throws -> Bool {
        let certificate = row.certificate
        let records = CertificateRepository(transaction)
        guard try records.find(serial: certificate.serial) == nil else {
            return try records.revoke(serial: certificate.serial, at: revoked.at, reason: revoked.reason)
        }
        _ = try DeviceRepository(transaction).insert(
            certificate.deviceID, userAgent: nil, presenceKey: nil, at: certificate.issuedAt)
        // Its bans were replayed before the device was added.
        try GenerationRepository(transaction).setMayBeBanned(true, .device(certificate.deviceID))
        try records.insert(
            certificate, subjectPublicKeyInfo: row.subjectPublicKeyInfo, authority: row.authority)
        return true
    }

    /// Erases users who were erased since the copy, with all data that the copy has of them.
    private func erase(
        _ erasures: [(user: UserID, entry: String?)], in transaction: any Transaction
    ) throws -> Int {
        let records = RestoreRepository(transaction)
        let users = UserRepository(transaction)
        var done: Set<UserID> = []
        for (user, entry) in erasures where !done.contains(user) {
            guard try users.find(user) != nil else { continue }
            if let entry {
                if try records.hasAuditEntry(entry) { continue }
            } else if try DataKeyRepository(transaction, keys: keys).erasedAt(user) != nil {
                continue
            }
            var events = RecordedEvents()
            try EraseUser(keys: keys, actor: actor, reason: "erased_before_restore")(
                user, receipt: environment.newUUID(), in: transaction, &events)
            let commit = Commit(store: restored, lane: .administration, environment: environment, node: nil)
            try commit.write(events, in: transaction)
            done.insert(user)
        }
        return done.count
    }
}
