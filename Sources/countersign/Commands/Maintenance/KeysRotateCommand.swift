import ArgumentParser
import Database
import Domain
import Encoding
import Foundation
import Operations
import Repositories

extension KeysCommand {
    /// `countersign keys rotate`.
    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate",
            abstract: "Adds a version to wrapping.key and wraps all data keys under it, while the service runs.",
            discussion: """
                An interrupted rotation is finished before another version is added. If nodes have the keys on separate \
                disks: run it with --stage, copy wrapping.key to all of them, then run it without --stage.
                """)

        @OptionGroup var options: SharedOptions

        @Flag(help: "Add the version and stop, so that the file can be copied to other nodes first.")
        var stage = false

        @Flag(help: "Add none; remove the versions that no data needs.")
        var prune = false

        func validate() throws {
            guard !stage || !prune else { throw ValidationError("--stage and --prune exclude each other.") }
        }

        func run() async throws {
            let report = try await Admin.run(options) { admin in
                try await WrappingKeyRotation(admin).run(stage: stage, prune: prune)
            }
            if report.unreadable > 0 {
                Output.note(
                    "\(report.unreadable) data keys could not be opened and stay as they are; their versions are kept.")
            }
            guard !options.json else { return Output.json(report.json) }
            Output.table(report.rows)
        }
    }
}

/// A rotation step by step. A new version is durable in the file before any data key is wrapped with it. An old
/// version leaves the file after no data key is wrapped with it any more. An interruption thus never makes a data key
/// unreadable.
struct WrappingKeyRotation {
    private let admin: Admin

    init(_ admin: Admin) { self.admin = admin }

    struct Report: Equatable {
        /// The newest version.
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

        /// `{"version", "added", "rewrapped", "unreadable", "removed": [VERSION], "kept": [VERSION]}`.
        var json: JSONValue {
            func list(_ versions: Set<Int>) -> JSONValue { .array(versions.sorted().map { .integer(Int64($0)) }) }
            return .object([
                "version": .integer(Int64(version)), "added": .bool(added), "rewrapped": .integer(Int64(rewrapped)),
                "unreadable": .integer(Int64(unreadable)), "removed": list(removed), "kept": list(kept),
            ])
        }

        var rows: [[String]] {
            func list(_ versions: Set<Int>) -> String { versions.sorted().map(String.init).joined(separator: ", ") }
            return [
                ["version", "\(version), \(added ? "added" : "there before")"], ["wrapped anew", "\(rewrapped)"],
                ["removed", removed.isEmpty ? "none" : list(removed)], ["kept", list(kept)],
            ]
        }
    }

    /// Rotates, or continues an interrupted rotation.
    func run(stage: Bool, prune: Bool) async throws -> Report {
        let file = try WrappingKeyFile(directory: admin.keysDirectory)
        let keys = try KeyFiles.personal(in: admin.keysDirectory)
        try await requireAgreement(on: keys)
        let rotation = RotateWrappingKey(admin.context, keys: keys)
        var report = Report(version: keys.currentWrappingVersion)
        if !prune, try await rotation.progress().isFinished {
            try file.add(admin.environment.randomBytes(32))
            try keys.reload()
            report.version = keys.currentWrappingVersion
            report.added = true
        }
        if !stage {
            try await rotation.putInForce()
            let progress = Progress(total: try await rotation.progress().remaining)
            (report.rewrapped, report.unreadable) = try await rotation.rewrap { progress.report($0) }
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
        let other = try await admin.store.read { transaction in
            try ClusterMemberRepository(transaction).live().first {
                !own.mayAddVersion(of: .wrappingKeys, beside: $0.fingerprints)
            }
        }
        guard let other else { return }
        throw CommandFailure(
            "\(KeyFiles.path(.wrappingSecrets, admin.keysDirectory)) is not the file of the node on host \(other.host): "
                + "copy wrapping.key from there first.")
    }

    /// Reports the progress once a second, after the first second.
    private final class Progress {
        private let total: Int
        private let clock = ContinuousClock()
        private var next: ContinuousClock.Instant

        init(total: Int) {
            self.total = total
            next = clock.now + .seconds(1)
        }

        func report(_ count: Int) {
            guard clock.now >= next else { return }
            next = clock.now + .seconds(1)
            Output.note("\(count) of \(total) data keys are wrapped anew")
        }
    }
}
