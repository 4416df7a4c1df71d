import ArgumentParser
import Database
import Domain
import Encoding
import Foundation
import Operations
import Repositories

/// `countersign status`: nodes and counts of a store.
struct StatusCommand: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what is live, from sessions to nodes and tasks, and how old reference data is.",
        example: "status --json")
    @OptionGroup var shared: SharedOptions

    func report(_ admin: Admin) async throws -> Report {
        let policy = try admin.policy()
        let lifetimes = policy.sessions
        let store = try await admin.store(for: .audit)
        let summary = try await ReportStatus(store: store, policy: lifetimes)()
        let version = try await store.currentMigration()
        let bytes = try admin.settings.store.file.map { try SQLiteMaintenance(path: $0).size() }
        return Report(
            Self.problems(summary, Examination.certificateEnds(admin.settings, policy, now: summary.at))
                + Self.counts(summary) + Self.log(summary) + Self.store(bytes, version: version)
                + Self.nodes(summary)
                + Self.tasks(summary) + Self.referenceData(at: summary.at))
    }

    /// The problems that need an operator, before all figures.
    ///
    /// - Parameter certificates: findings for certificates that end soon.
    private static func problems(_ summary: ReportStatus.Summary, _ certificates: [Finding]) -> [Entry] {
        let late = summary.tasks.filter { $0.isOverdue(at: summary.at, servedBy: summary.nodes) }.map(\.name)
        let differing = summary.nodes.filter { !$0.differingPolicies(among: summary.nodes).isEmpty }.map(\.host)
        let dead = summary.outbox.first { $0.state == .dead }?.count ?? 0
        let problems =
            [
                summary.nodes.isEmpty ? "no node serves the store" : nil,
                differing.isEmpty ? nil : "policies differ on \(differing.joined(separator: ", "))",
                late.isEmpty ? nil : "overdue tasks (\(late.count)): \(late.joined(separator: ", "))",
                dead == 0 ? nil : "messages that could not be sent: \(dead)",
            ].compactMap(\.self) + certificates.map(\.what)
        return [
            Entry(
                "problems",
                ReportCell(problems.cell.json, problems.isEmpty ? "none" : problems.joined(separator: "; ")))
        ]
    }

    private static func counts(_ summary: ReportStatus.Summary) -> [Entry] {
        let (sessions, certificates) = (summary.sessions, summary.certificates)
        let open = counts([("authenticated", sessions.authenticated), ("challenged", sessions.challenged)])
        let cuts = summary.cuts == 0 ? "" : ", bulk revocations running: \(summary.cuts)"
        return [
            Entry("sessions", ReportCell(open.json, open.text.map { $0 + cuts })), .json("cuts", summary.cuts),
            Entry("users", counts(Assurance.allCases.map { ($0.rawValue, summary.users[$0] ?? 0) })),
            Entry("devices", summary.devices),
            Entry(
                "certificates",
                counts([
                    ("valid", certificates.valid), ("revoked", certificates.revoked),
                    ("expired", certificates.expired),
                ])),
            Entry(
                "providers",
                counts([("enabled", summary.providers.enabled), ("disabled", summary.providers.disabled)])),
            Entry("outbox", counts(summary.outbox.map { ($0.state.rawValue, $0.count) })),
            Entry("counted_at", ReportCell(summary.countedAt.cell.json, (summary.countedAt ?? summary.at).rfc3339)),
        ]
    }

    private static func counts(_ parts: [(String, Int)]) -> ReportCell {
        ReportCell(
            Report(parts.map { .json($0.0, $0.1) }).json,
            parts.map { "\($0.1) \($0.0)" }.joined(separator: ", "))
    }

    private static func log(_ summary: ReportStatus.Summary) -> [Entry] {
        let (chained, signed) = (summary.audit.sequence, summary.audit.signed)
        let audit = Report([
            .json("entries", chained), .json("unchained", summary.unchained), .json("signed_through", signed),
            .json("last_checkpoint_at", summary.signedAt),
        ])
        return [
            Entry("audit", "audit log", ReportCell(audit.json, "\(chained) chained, \(summary.unchained) not yet")),
            .people("last checkpoint", summary.signedAt.map { "entry \(signed) at \($0.rfc3339)" }, none: "none"),
        ]
    }

    private static func store(_ bytes: Int64?, version: Int) -> [Entry] {
        let store = Report([.json("bytes", bytes), .json("schema_version", version)])
        return [
            Entry("store", ReportCell(store.json, bytes.map { "\(($0 + 1023) / 1024) KiB" })),
            .people("schema version", version),
        ]
    }

    private static func nodes(_ summary: ReportStatus.Summary) -> [Entry] {
        let nodes = summary.nodes
        let fields: [Field<ClusterMember>] = [
            .json("id") { $0.id }, .json("host") { $0.host }, .json("version") { $0.version },
            .json("started_at") { $0.startedAt }, .json("seen_at") { $0.seenAt },
            .json("policies_agree") { $0.differingPolicies(among: nodes).isEmpty },
            .json("differing_policies") { $0.differingPolicies(among: nodes) },
        ]
        let rows: [Entry] = nodes.map { node in
            let differing = node.differingPolicies(among: nodes)
            let seen = Int(summary.at.timeIntervalSince(node.seenAt))
            return .people(
                "node",
                "\(node.host), version \(node.version), since \(node.startedAt.rfc3339), seen \(seen) s ago, "
                    + (differing.isEmpty ? "policies agree" : "differs in \(differing.joined(separator: ", "))"))
        }
        return [.json("nodes", Report(nodes, fields))] + (rows.isEmpty ? [.people("nodes", "none")] : rows)
    }

    private static func tasks(_ summary: ReportStatus.Summary) -> [Entry] {
        func isLate(_ task: MaintenanceTaskRepository.Entry) -> Bool {
            task.isOverdue(at: summary.at, servedBy: summary.nodes)
        }
        let fields: [Field<MaintenanceTaskRepository.Entry>] = [
            .json("name") { $0.name }, .json("last_done_at") { $0.endedAt }, .json("last_rows") { $0.lastRows },
            .json("due_at") { $0.dueAt }, .json("under_way_since") { $0.startedAt }, .json("rows") { $0.rows },
            .json("failures") { $0.failures }, .json("overdue", isLate),
        ]
        let troubled = summary.tasks.filter { isLate($0) || $0.failures > 0 }
        let rows: [Entry] = troubled.map { task in
            let words = [
                isLate(task) ? "OVERDUE since \(task.dueAt.rfc3339)" : nil,
                task.failures > 0 ? "failed \(task.failures.counting("time"))" : nil,
                task.startedAt.map { "running since \($0.rfc3339), \(task.rows.counting("row"))" },
                task.endedAt.map { "last done at \($0.rfc3339), \(task.lastRows.counting("row"))" } ?? "never done",
            ]
            return .people("task \(task.name)", words.compactMap(\.self).joined(separator: "; "))
        }
        let rest = summary.tasks.count - troubled.count
        let last = summary.tasks.compactMap(\.endedAt).max().map { ", the last one done at \($0.rfc3339)" } ?? ""
        return [.json("housekeeping", Report(summary.tasks, fields))] + rows + [
            .people(
                "housekeeping",
                summary.tasks.isEmpty ? "never done" : "\(rest.counting("task")) without problems\(last)")
        ]
    }

    private static func referenceData(at now: Date) -> [Entry] {
        let fields: [Field<ReferenceData>] = [
            .json("name") { $0.name }, .json("source") { $0.source }, .json("version") { $0.version },
            .json("date") { $0.date.text }, .json("age_days") { $0.days(at: now) },
        ]
        return [.json("reference_data", Report(ReferenceData.all, fields))]
            + ReferenceData.all.map { data in
                .people(
                    data.name.replacing("_", with: " "),
                    "\(data.source) (\(data.version)), of \(data.date.text), \(data.days(at: now).counting("day")) old")
            }
    }
}
