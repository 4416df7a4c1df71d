import ArgumentParser
import Database
import Domain
import Encoding
import Foundation
import Operations
import Repositories

/// `countersign status`: nodes and counts of a store.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows what is live: sessions, users, certificates, outbox, audit log, store, nodes, tasks.")
    @OptionGroup var shared: SharedOptions

    func run() async throws {
        let settings = try Settings.resolve(shared: shared)
        let clocks = try SessionCommand.clocks(shared)
        let (summary, version) = try await Admin.run(shared) { admin in
            (
                try await ReportStatus(store: admin.store, policy: clocks)(),
                try await admin.store.currentMigration()
            )
        }
        let bytes = try settings.store.file.map { try SQLiteMaintenance(path: $0).size() }
        if shared.json {
            Output.json(Self.json(summary, bytes: bytes, version: version))
        } else {
            Output.table(Self.rows(summary, bytes: bytes, version: version))
        }
    }

    private static let levels = Assurance.allCases

    private static func rows(_ summary: ReportStatus.Summary, bytes: Int64?, version: Int) -> [[String]] {
        func list(_ parts: [(String, Int)]) -> String { parts.map { "\($0.1) \($0.0)" }.joined(separator: ", ") }
        let signed = summary.signedAt.map { "entry \(summary.audit.signed) at \($0.rfc3339)" } ?? "none"
        return [
            [
                "sessions",
                list([("authenticated", summary.sessions.authenticated), ("challenged", summary.sessions.challenged)])
                    + (summary.cuts == 0 ? "" : ", cuts under way: \(summary.cuts)"),
            ],
            ["users", list(levels.map { ($0.rawValue, summary.users[$0] ?? 0) })],
            ["devices", String(summary.devices)],
            [
                "certificates",
                list([
                    ("valid", summary.certificates.valid), ("revoked", summary.certificates.revoked),
                    ("expired", summary.certificates.expired),
                ]),
            ],
            ["providers", list([("enabled", summary.providers.enabled), ("disabled", summary.providers.disabled)])],
            ["outbox", list(summary.outbox.map { ($0.state.rawValue, $0.count) })],
            ["counted at", (summary.countedAt ?? summary.at).rfc3339],
            ["audit log", "\(summary.audit.sequence) chained, \(summary.unchained) not yet"],
            ["last checkpoint", signed],
            ["store", bytes.map { "\(($0 + 1023) / 1024) KiB" } ?? "-"],
            ["schema version", String(version)],
        ] + nodes(summary) + tasks(summary)
    }

    private static func tasks(_ summary: ReportStatus.Summary) -> [[String]] {
        guard !summary.tasks.isEmpty else { return [["housekeeping", "never done"]] }
        return summary.tasks.map { task in
            var words = [
                task.endedAt.map { "last done at \($0.rfc3339), \(task.lastRows) rows" } ?? "never done"
            ]
            if let start = task.startedAt { words.append("under way since \(start.rfc3339), \(task.rows) rows") }
            if task.failures > 0 { words.append("failed \(task.failures) times since") }
            if task.isOverdue(at: summary.at) { words.append("OVERDUE since \(task.dueAt.rfc3339)") }
            return ["task \(task.name)", words.joined(separator: "; ")]
        }
    }

    private static func json(_ task: MaintenanceTaskRepository.Entry, at now: Date) -> JSONValue {
        .object([
            "name": .string(task.name), "last_done_at": task.endedAt.map { .string($0.rfc3339) } ?? .null,
            "last_rows": .integer(Int64(task.lastRows)), "due_at": .string(task.dueAt.rfc3339),
            "under_way_since": task.startedAt.map { .string($0.rfc3339) } ?? .null,
            "rows": .integer(Int64(task.rows)), "failures": .integer(Int64(task.failures)),
            "overdue": .bool(task.isOverdue(at: now)),
        ])
    }

    private static func nodes(_ summary: ReportStatus.Summary) -> [[String]] {
        guard !summary.nodes.isEmpty else { return [["nodes", "none"]] }
        return summary.nodes.map { node in
            let differing = node.differingPolicies(among: summary.nodes)
            let seen = Int(summary.at.timeIntervalSince(node.seenAt))
            return [
                "node",
                "\(node.host), version \(node.version), since \(node.startedAt.rfc3339), seen \(seen) s ago, "
                    + (differing.isEmpty ? "policies agree" : "differs in \(differing.joined(separator: ", "))"),
            ]
        }
    }

    private static func json(_ node: ClusterMember, among nodes: [ClusterMember]) -> JSONValue {
        let differing = node.differingPolicies(among: nodes)
        return .object([
            "id": .string(node.id.description), "host": .string(node.host), "version": .string(node.version),
            "started_at": .string(node.startedAt.rfc3339), "seen_at": .string(node.seenAt.rfc3339),
            "policies_agree": .bool(differing.isEmpty), "differing_policies": .array(differing.map { .string($0) }),
        ])
    }

    private static func json(_ summary: ReportStatus.Summary, bytes: Int64?, version: Int) -> JSONValue {
        func counts(_ parts: [(String, Int)]) -> JSONValue {
            .object(parts.map { JSONMember(name: $0.0, value: .integer(Int64($0.1))) })
        }
        return .object([
            "sessions": counts([
                ("authenticated", summary.sessions.authenticated), ("challenged", summary.sessions.challenged),
            ]),
            "cuts": .integer(Int64(summary.cuts)),
            "users": counts(levels.map { ($0.rawValue, summary.users[$0] ?? 0) }),
            "devices": .integer(Int64(summary.devices)),
            "certificates": counts([
                ("valid", summary.certificates.valid), ("revoked", summary.certificates.revoked),
                ("expired", summary.certificates.expired),
            ]),
            "providers": counts([("enabled", summary.providers.enabled), ("disabled", summary.providers.disabled)]),
            "outbox": counts(summary.outbox.map { ($0.state.rawValue, $0.count) }),
            "counted_at": summary.countedAt.map { .string($0.rfc3339) } ?? .null,
            "audit": .object([
                "entries": .integer(summary.audit.sequence), "unchained": .integer(Int64(summary.unchained)),
                "signed_through": .integer(summary.audit.signed),
                "last_checkpoint_at": summary.signedAt.map { .string($0.rfc3339) } ?? .null,
            ]),
            "store": .object([
                "bytes": bytes.map { .integer($0) } ?? .null, "schema_version": .integer(Int64(version)),
            ]),
            "nodes": .array(summary.nodes.map { json($0, among: summary.nodes) }),
            "housekeeping": .array(summary.tasks.map { json($0, at: summary.at) }),
        ])
    }
}
