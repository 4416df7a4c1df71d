import Domain
import Encoding
import Foundation

/// The figures of now, each with the limit from which on somebody must act.
enum FigureTable {
    private struct FigureRow: Sendable {
        let name: String
        let value: String
        let limit: String
        var isOver = false
    }

    static func markup(
        _ figures: ConsoleFigures, _ hour: [FigureHistory.Slot], _ policy: Policy, at now: Date
    ) -> Markup {
        let rows =
            [sessions(figures, policy), signIns(hour), texts(figures, hour, policy), review(figures)]
            + outbox(figures) + nodes(figures, at: now) + ends(figures, at: now)
        return DataTable<FigureRow>(
            "Figures and their limits", none: "",
            [
                .text("Figure") { $0.name },
                .init("Now") { row in row.isOver ? "<strong>\(row.value) (over the limit)</strong>" : "\(row.value)" },
                .text("Limit") { $0.limit },
            ]
        ).markup(rows)
    }

    private static func sessions(_ figures: ConsoleFigures, _ policy: Policy) -> FigureRow {
        let counted = figures.sessions.map { "\($0.count) at \($0.at.rfc3339)" } ?? "not counted yet"
        return FigureRow(
            name: "Sessions", value: "\(counted), \(figures.live) in this node's memory",
            limit: "\(policy.sessions.perUserAndDevice) for a user and device")
    }

    private static func signIns(_ hour: [FigureHistory.Slot]) -> FigureRow {
        // The last slot is the minute that has not ended.
        let last = hour.dropLast().last?.signIns ?? 0
        return FigureRow(name: "Sign-ins in the last minute, on this node", value: "\(last)", limit: "none")
    }

    private static func texts(_ figures: ConsoleFigures, _ hour: [FigureHistory.Slot], _ policy: Policy) -> FigureRow {
        let phones = policy.phones
        return FigureRow(
            name: "Cost of the texts of today",
            value: "\(amount(figures.spent)), \(hour.reduce(0) { $0 + $1.texts }) texts of this node in the last hour",
            limit: "\(amount(phones.spendPerDay)) a day (UTC)", isOver: figures.spent >= phones.spendPerDay)
    }

    /// An amount in the currency of the policy, of thousandths.
    private static func amount(_ thousandths: Int) -> String {
        let cents = max(0, thousandths) / 10
        return "\(cents / 100).\(cents % 100 < 10 ? "0" : "")\(cents % 100)"
    }

    private static func review(_ figures: ConsoleFigures) -> FigureRow {
        let age = figures.review.count == 0 ? "" : ", the oldest for \(duration(figures.review.age))"
        return FigureRow(name: "Cards in review", value: "\(figures.review.count)\(age)", limit: "none")
    }

    /// Seconds after which a message that is due is late, as in the alerts.
    private static let late: TimeInterval = 600
    /// Messages that wait until their receiver asks.
    private static let polled: Set = ["polled_event", "notification"]

    private static func outbox(_ figures: ConsoleFigures) -> [FigureRow] {
        guard !figures.outbox.isEmpty else { return [FigureRow(name: "Outbox", value: "empty", limit: duration(late))] }
        return figures.outbox.sorted { $0.key < $1.key }.map { kind, waiting in
            let isPolled = polled.contains(kind)
            return FigureRow(
                name: "Outbox, \(kind)", value: "\(waiting.count), the oldest due for \(duration(waiting.age))",
                limit: isPolled ? "none" : duration(late), isOver: !isPolled && waiting.age > late)
        }
    }

    private static func nodes(_ figures: ConsoleFigures, at now: Date) -> [FigureRow] {
        figures.nodes.map { node in
            let silence = max(0, now.timeIntervalSince(node.seenAt))
            let differing = node.differingPolicies(among: figures.nodes)
            let agreement = differing.isEmpty ? "policies agree" : "differs in \(differing.joined(separator: ", "))"
            return FigureRow(
                name: "Node \(node.host), version \(node.version)",
                value: "seen \(duration(silence)) ago, \(agreement)",
                limit: "the same policies on all nodes", isOver: !differing.isEmpty)
        }
    }

    /// Seconds before its end at which a certificate must be replaced, as in the alerts.
    private static let notice: TimeInterval = 14 * 86_400

    private static func ends(_ figures: ConsoleFigures, at now: Date) -> [FigureRow] {
        figures.ends.map { end in
            FigureRow(
                name: "Certificate of the \(end.name)", value: "ends at \(end.at.rfc3339)",
                limit: "14 days before its end", isOver: end.at.timeIntervalSince(now) < notice)
        }
    }

    /// A time in one unit, rounded down.
    private static func duration(_ seconds: TimeInterval) -> String {
        let seconds = Int(min(max(0, seconds), 1e9))
        switch seconds {
        case ..<120: return "\(seconds) s"
        case ..<7200: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3600) h"
        default: return "\(seconds / 86_400) days"
        }
    }
}
