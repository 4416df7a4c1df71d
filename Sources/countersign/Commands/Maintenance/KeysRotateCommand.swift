import ArgumentParser
import Authority
import Database
import Domain
import Foundation
import Operations
import Repositories

extension KeysCommand {
    struct Rotate: AdminCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate",
            abstract: "Replace a key while the service runs, with at most one node stopped at a time.",
            discussion: """
                wrapping: add a version to wrapping.key and wrap all data keys under it. An interrupted rotation is \
                finished before another version is added. If nodes have the keys on separate disks, run it with \
                --stage, copy wrapping.key to all nodes, then run it without --stage.

                nonce, service, access-token, ca, admin-ca: run it with --stage, then without, then with --prune. Each run says \
                what to do before the next one, and is refused while a node is not ready.

                webhook, wallet: run it with --stage, then without.

                phone-code, blind-index, server: run it once. Remove an old phone code key with --prune.
                """,
            example: "keys rotate nonce --stage")

        @OptionGroup var shared: SharedOptions

        @Argument(
            help: """
                The key: wrapping, phone-code, blind-index, nonce, service, access-token, server, ca, admin-ca, wallet or \
                webhook.
                """)
        var key = RotatedKey.wrapping

        @Flag(help: "Make the next key known to all nodes before it is used.")
        var stage = false

        @Flag(help: "Remove former keys that nothing needs.")
        var prune = false

        func validate() throws {
            guard !stage || !prune else { throw ValidationError("--stage and --prune exclude each other.") }
        }

        func report(_ admin: Admin) async throws -> Report {
            guard key == .wrapping else { return try await file(admin) }
            let done = try await WrappingKeyRotation(admin).run(stage: stage, prune: prune)
            return Report([
                Entry(
                    "version",
                    ReportCell(done.version.cell.json, "\(done.version), \(done.added ? "added" : "already present")")
                ),
                .json("added", done.added), Entry("rewrapped", "wrapped again", done.rewrapped),
                .json("unreadable", done.unreadable), Entry("removed", done.removed.sorted(), none: "none"),
                Entry("kept", done.kept.sorted()),
            ]).noting(
                done.unreadable > 0
                    ? "\(done.unreadable) data keys could not be opened and stay as they are; their versions are kept."
                    : nil)
        }

        /// A step of a key that is only in files.
        private func file(_ admin: Admin) async throws -> Report {
            let (now, keys) = (admin.environment.now(), admin.keysDirectory)
            let former = key == .authority && prune ? try KeyFiles.authorities(in: keys).former?.id : nil
            let formerAdministrators =
                key == .administratorAuthority && prune ? try? AdministratorAuthorities(in: keys).formerID : nil
            let (generation, lastEnd, names) = try await admin.store(for: .manage).read { transaction in
                (
                    try RestoreRepository(transaction).nonceGeneration(),
                    try former.flatMap { try CertificateRepository(transaction).lastEnd(of: $0, now: now) },
                    try formerAdministrators.map {
                        try AdministratorRepository(transaction).holders(ofCertificatesFrom: $0, at: now)
                    }
                )
            }
            let step: RotationStep = stage ? .stage : prune ? .prune : .use
            let cell = admin.settings.cell
            let outcome = try KeyFileRotation(
                directory: keys, nodes: admin.nodes, now: now,
                randomBytes: admin.environment.randomBytes, lastEnd: lastEnd,
                formerAdministrators: names ?? [],
                walletName: key == .wallet ? try admin.policy().wallet.clientID : .certificateHash
            ) { NonceKey($0, generation: generation, in: cell).fingerprint }.run(step, of: key)
            var report = Report(
                outcome.changed.isEmpty ? ["Nothing was changed."] : outcome.changed.map { "\($0) is changed." },
                json: [.json("key", key.rawValue), .json("step", step.rawValue), .json("changed", outcome.changed)])
            report.notes = outcome.next
            return report
        }
    }
}

/// A rotation step by step. A new version is durable in the file before any data key is wrapped with it. An old version
/// is removed from the file only when no data key is wrapped with it. An interruption thus never makes a data key
/// unreadable.
struct WrappingKeyRotation {
    private let admin: Admin

    init(_ admin: Admin) { self.admin = admin }

    struct Report: Equatable {
        var version: Int
        /// Whether this run added it.
        var added = false
        /// The number of data keys that were wrapped again.
        var rewrapped = 0
        /// The number of data keys that could not be opened.
        var unreadable = 0
        /// The versions that were removed.
        var removed: Set<Int> = []
        /// The versions in the file now.
        var kept: Set<Int> = []
    }

    /// Rotates, or continues an interrupted rotation.
    func run(stage: Bool, prune: Bool) async throws -> Report {
        let file = try WrappingKeyFile(directory: admin.keysDirectory)
        let keys = try KeyFiles.personal(in: admin.keysDirectory)
        try await requireAgreement(on: keys)
        let rotation = RotateWrappingKey(try admin.administration, keys: keys)
        var report = Report(version: keys.currentWrappingVersion)
        if !prune, try await rotation.progress().isFinished {
            try file.add(admin.environment.randomBytes(32))
            try keys.reload()
            report.version = keys.currentWrappingVersion
            report.added = true
        }
        if !stage {
            try await rotation.putInForce()
            let total = try await rotation.progress().remaining
            let progress = Progress("wrapping data keys")
            (report.rewrapped, report.unreadable) = try await rotation.rewrap { progress.report($0, of: total) }
            progress.end()
        }
        if prune {
            report.removed = try await rotation.takeLeave(of: try file.versions())
            if !report.removed.isEmpty { try file.remove(report.removed) }
        }
        report.kept = try file.versions()
        return report
    }

    private func requireAgreement(on keys: PersonalKeys) async throws {
        let own = NodeFingerprints(items: [.wrappingKeys: keys.wrappingFingerprints], policies: [:])
        let other = try await admin.store(for: .manage).read { transaction in
            try ClusterMemberRepository(transaction).live().first {
                !own.mayAddVersion(of: .wrappingKeys, beside: $0.fingerprints)
            }
        }
        guard let other else { return }
        throw CommandFailure(
            "\(KeyFiles.path(.wrappingSecrets, admin.keysDirectory)) differs from the file on host \(other.host): "
                + "copy wrapping.key from there first.")
    }
}
