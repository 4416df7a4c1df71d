import Authority
import Database
import Domain
import Encoding
import Foundation
import Operations
import Repositories

extension Examination {
    /// The values read from the store.
    private struct Look: Sendable {
        let isDevelopment: Bool
        let hasProvider: Bool
        let nodes: [ClusterMember]
        let written: NodeFingerprints
        let generation: String
        let tasks: [MaintenanceTaskRepository.Entry]
        let begunAt: Date?
        let backupAt: Date?
        let newestEntry: Date?
        /// When the list of revoked attestations was fetched, and whether Android keys are compared with it.
        let attestationsReadAt: Date?
        let hasAndroidApp: Bool
        /// When the list of issuers was made, and when its provider makes another.
        let issuerList: (date: Date, nextUpdate: Date?)?
        let at: Date
    }

    func store(_ settings: Settings, _ policy: Policy, _ keys: LoadedKeys?) async -> [Finding] {
        var found = files(of: settings)
        let store: any Database
        do {
            store = try settings.store.openPresent()
        } catch {
            return found + [Self.refusal(error, .store)]
        }
        do {
            try await store.requirePresent(at: settings.store, in: settings.cell)
            let before = now()
            let look = try await store.read { try Self.look(in: $0, policy.wallet) }
            if try await store.hasForeignChangeLog() {
                found.append(Finding(.store, NodeRefusal.foreignLog.what, NodeRefusal.foreignLog.mend))
            }
            found += findings(look, settings, policy) + Self.staleList(look, policy.wallet)
            found += clock(look, from: before, to: now(), policy)
            found += nodes(look, settings, policy, keys)
        } catch {
            found.append(Self.refusal(error, error is CommandFailure ? .schema : .store))
        }
        try? await store.close()
        return found
    }

    private static func look(in transaction: any Transaction, _ wallet: WalletPolicy) throws -> Look {
        let settings = StoreSettingRepository(transaction)
        return Look(
            isDevelopment: try settings.isDevelopment(),
            hasProvider: try ProviderRepository(transaction).list().contains { $0.disabledAt == nil },
            nodes: try ClusterMemberRepository(transaction).live(),
            written: try KeyFingerprintRepository(transaction).list(),
            generation: try RestoreRepository(transaction).nonceGeneration(),
            tasks: try MaintenanceTaskRepository(transaction).list(), begunAt: try settings.begunAt(),
            backupAt: try settings.lastBackup(), newestEntry: try AuditRepository(transaction).newest(),
            attestationsReadAt: try AttestationRepository(transaction).listTimes()?.readAt,
            hasAndroidApp: try AttestationRepository(transaction).hasAndroidApp(),
            issuerList: try TrustListRepository(transaction, at: wallet.vicalURL).times().map {
                ($0.date, $0.nextUpdate)
            },
            at: transaction.now)
    }

    private static func refusal(_ error: any Error, _ check: Finding.Check) -> Finding {
        switch error {
        case let failure as CommandFailure: Finding(check, sentence: failure.sentence)
        case StoreError.migration(let conflict):
            Finding(.store, sentence: StoreError.migration(conflict).description)
        case let error as StoreError:
            Finding(.store, "\(error)", "check --store and the store's machine")
        default: Finding(check, ErrorWords.of(error), "check --store")
        }
    }

    private func findings(_ look: Look, _ settings: Settings, _ policy: Policy) -> [Finding] {
        var found: [Finding] = []
        if look.isDevelopment, !settings.isDevelopment {
            found.append(
                Finding(
                    .mode, "the store was created with --development, so a known code proves its test numbers",
                    "name another store, or add --development"))
        }
        if !look.hasProvider {
            found.append(
                Finding(
                    .providers, "no provider is registered and enabled, so no user can sign in",
                    "run `countersign provider add` or `countersign provider enable`"))
        }
        // One finding, because many tasks that are late have one cause.
        let late = look.tasks.filter { $0.isOverdue(at: look.at, servedBy: look.nodes) }.sorted { $0.dueAt < $1.dueAt }
        if let first = late.first {
            let others = late.count == 1 ? "" : ", and \(late.count - 1) more tasks are late"
            found.append(
                Finding(
                    .housekeeping, "the task \(first.name) has been due since \(first.dueAt.rfc3339)\(others)",
                    "see `countersign status`, and the service's log for their failures"))
        }
        if look.hasAndroidApp, policy.certification.gate == .attested,
            look.at.timeIntervalSince(look.attestationsReadAt ?? .distantPast) > 86_400
        {
            found.append(
                Finding(
                    .attestations,
                    look.attestationsReadAt.map { "the list of revoked attestations was last fetched at \($0.rfc3339)" }
                        ?? "the list of revoked attestations was never fetched",
                    "let the nodes reach https://android.googleapis.com, and see the service's log"))
        }
        if let backupAge, settings.store.file != nil,
            let last = look.backupAt ?? look.begunAt, now().timeIntervalSince(last) > backupAge
        {
            found.append(
                Finding(
                    .backup,
                    look.backupAt.map { "the last backup was made at \($0.rfc3339)" }
                        ?? "the store was never backed up",
                    "run `countersign store backup FILE`, or add --backups off if backups are made by other means"))
        }
        return found
    }

    /// Issuers of a list that its provider should have replaced are trusted for some days more.
    private static func staleList(_ look: Look, _ policy: WalletPolicy) -> [Finding] {
        guard policy.enabled, !policy.vicalURL.isEmpty else { return [] }
        let mend = "run `countersign issuer fetch`, which reports what is wrong"
        guard let list = look.issuerList else {
            return [Finding(.issuers, "the list of issuers was never fetched, so its issuers are not trusted", mend)]
        }
        func end(_ grace: TimeInterval) -> Date {
            TrustList.end(date: list.date, nextUpdate: list.nextUpdate, grace: grace)
        }
        guard look.at > end(0) else { return [] }
        let (due, last) = (end(0).rfc3339, end(policy.trustGrace).rfc3339)
        return [Finding(.issuers, "a new list of issuers was due at \(due), and the present one ends at \(last)", mend)]
    }

    /// A wrong clock accepts expired tokens and refuses valid ones.
    private func clock(_ look: Look, from before: Date, to after: Date, _ policy: Policy) -> [Finding] {
        let difference = max(0, before.timeIntervalSince(look.at)) - max(0, look.at.timeIntervalSince(after))
        let mend = "set this machine's clock by NTP"
        if difference.magnitude > policy.bans.maximumClockDifference {
            let seconds = Int(saturating: difference.magnitude.rounded())
            return [
                Finding(
                    .clock,
                    "this machine's clock is \(seconds) s \(difference > 0 ? "ahead of" : "behind") the store's",
                    mend)
            ]
        }
        guard let newest = look.newestEntry, newest.timeIntervalSince(after) > 60 else { return [] }
        return [Finding(.clock, "the audit log has an entry of \(newest.rfc3339), which is in the future", mend)]
    }

    private func nodes(_ look: Look, _ settings: Settings, _ policy: Policy, _ keys: LoadedKeys?) -> [Finding] {
        let own =
            keys.map { keys in
                keys.fingerprints(
                    nonceKey: keys.nonceSecrets.key(generation: look.generation, in: settings.cell),
                    server: keys.server,
                    realm: settings.realm, policy: policy)
            } ?? NodeFingerprints(items: [:], policies: PolicyFiles.fingerprints(of: policy))
        let others = own.contradictions(to: look.written).map {
            Finding(.keys, sentence: NodeRefusal.otherKey($0, in: settings.keys))
        }
        return others
            + NodeAgreement.disagreements(
                of: own, with: look.nodes, allowsOtherPolicies: settings.allowsOtherPolicies, now: look.at
            ).map {
                Finding(.nodes, NodeRefusal.summary($0), "make the files equal, then send it SIGHUP or restart it")
            }
    }

    // MARK: Files

    /// Checks that only its owner can read the store's file, and that the disk has space for growth and a copy.
    private func files(of settings: Settings) -> [Finding] {
        guard let file = settings.store.file, FileManager.default.fileExists(atPath: file) else { return [] }
        var found: [Finding] = []
        for path in [file, file + "-wal"] {
            guard let mode = Self.mode(of: path), mode & 0o077 != 0 else { continue }
            found.append(Finding(.permissions, "other users may open \(path)", "run `chmod 600 \(path)`"))
        }
        let size = (try? FileManager.default.attributesOfItem(atPath: file)[.size] as? NSNumber)?.int64Value ?? 0
        let needed = size.addingReportingOverflow(Self.spareBytes).partialValue
        if let free = freeBytes(file), free < needed {
            found.append(
                Finding(
                    .disk, "the file system of \(file) has \(free / 1_048_576) MiB free",
                    "provide \(needed / 1_048_576) MiB, the size of the store and some more"))
        }
        return found
    }

    /// Allowance for growth until the next check.
    private static let spareBytes: Int64 = 268_435_456
}
