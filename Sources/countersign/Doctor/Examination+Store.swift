import Database
import Domain
import Encoding
import Foundation
import Operations
import Repositories

/// What the store says.
extension Examination {
    /// What a look into the store gave.
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
            let look = try await store.read { try Self.look(in: $0) }
            if try await store.hasForeignChangeLog() {
                found.append(Finding(.store, NodeRefusal.foreignLog.what, NodeRefusal.foreignLog.mend))
            }
            found += findings(look, settings, policy)
            found += clock(look, from: before, to: now(), policy)
            found += nodes(look, settings, policy, keys)
        } catch {
            found.append(Self.refusal(error, error is CommandFailure ? .schema : .store))
        }
        try? await store.close()
        return found
    }

    private static func look(in transaction: any Transaction) throws -> Look {
        let settings = StoreSettingRepository(transaction)
        return Look(
            isDevelopment: try settings.isDevelopment(),
            hasProvider: try ProviderRepository(transaction).list().contains { $0.disabledAt == nil },
            nodes: try ClusterMemberRepository(transaction).live(),
            written: try KeyFingerprintRepository(transaction).list(),
            generation: try RestoreRepository(transaction).nonceGeneration(),
            tasks: try MaintenanceTaskRepository(transaction).list(), begunAt: try settings.begunAt(),
            backupAt: try settings.lastBackup(), newestEntry: try AuditRepository(transaction).newest(),
            at: transaction.now)
    }

    private static func refusal(_ error: any Error, _ check: Finding.Check) -> Finding {
        switch error {
        case let failure as CommandFailure: Finding(check, sentence: failure.sentence)
        case let error as StoreError:
            Finding(.store, "\(error)", "look whether --store is right and the store's machine answers")
        default: Finding(check, ErrorWords.of(error), "look whether --store is right")
        }
    }

    private func findings(_ look: Look, _ settings: Settings, _ policy: Policy) -> [Finding] {
        var found: [Finding] = []
        if look.isDevelopment, !settings.isDevelopment {
            found.append(
                Finding(
                    .mode, "the store is one of development mode, where a known code proves a test number",
                    "name another store, or give --development"))
        }
        if !look.hasProvider {
            found.append(
                Finding(
                    .providers, "no provider is registered and enabled, so that nobody can sign in",
                    "see `countersign provider add`"))
        }
        if !look.nodes.isEmpty {
            for task in look.tasks where task.isOverdue(at: look.at) {
                found.append(
                    Finding(
                        .housekeeping, "the task \(task.name) is due since \(task.dueAt.rfc3339)",
                        "look for its failures in the service's log"))
            }
        }
        if let backupAge, settings.store.file != nil,
            let last = look.backupAt ?? look.begunAt, now().timeIntervalSince(last) > backupAge
        {
            found.append(
                Finding(
                    .backup,
                    look.backupAt.map { "the last backup was made at \($0.rfc3339)" }
                        ?? "the store was never backed up",
                    "run `countersign store backup FILE`, or give --backups off if others make them"))
        }
        return found
    }

    /// A wrong clock lets ended things live and refuses what is good.
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
        return [Finding(.clock, "the audit log has an entry of \(newest.rfc3339), which is not yet", mend)]
    }

    private func nodes(_ look: Look, _ settings: Settings, _ policy: Policy, _ keys: LoadedKeys?) -> [Finding] {
        let own =
            keys.map { keys in
                keys.fingerprints(
                    nonceKey: NonceKey(keys.nonceSecret, generation: look.generation, in: settings.cell),
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
                Finding(.nodes, NodeRefusal.summary($0), "make the files alike, then send it SIGHUP or start it again")
            }
    }

    // MARK: Files

    /// What the file of the store needs: its owner's eyes only, and free space for itself and a copy.
    private func files(of settings: Settings) -> [Finding] {
        guard let file = settings.store.file, FileManager.default.fileExists(atPath: file) else { return [] }
        var found: [Finding] = []
        for path in [file, file + "-wal"] {
            guard let mode = Self.mode(of: path), mode & 0o077 != 0 else { continue }
            found.append(Finding(.permissions, "others than its owner may open \(path)", "run `chmod 600 \(path)`"))
        }
        let size = (try? FileManager.default.attributesOfItem(atPath: file)[.size] as? NSNumber)?.int64Value ?? 0
        let needed = size.addingReportingOverflow(Self.spareBytes).partialValue
        if let free = freeBytes(file), free < needed {
            found.append(
                Finding(
                    .disk, "the file system of \(file) has \(free / 1_048_576) MiB free",
                    "give it \(needed / 1_048_576) MiB, as much as the store and a little more"))
        }
        return found
    }

    /// What a store may grow by until somebody looks again.
    private static let spareBytes: Int64 = 268_435_456
}
