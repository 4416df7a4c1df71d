import Domain
import Encoding
import Foundation
import Operations

/// Entries of the audit log that pass a search, newest first.
struct AuditListPage: Sendable {
    let query: AuditQuery
    let found: Administration.AuditPage
    /// What is wrong with a field of the search; `nil` for nothing.
    var defect: String? = nil
    /// The form that verifies the log.
    let verify: Form

    static let limit = 50
    static let path = PagePath("/audit")
    private static let lines = PagePath("/audit/lines")
}

extension AuditListPage {
    var page: Page {
        let path = query.path(Self.path)
        let lines = query.path(Self.lines).adding("after", query.after)
        return Page(
            "Audit log",
            content: """
                \(wrong)\(search)
                \(table.markup(found.entries))
                \(empty)
                \(Pager(path, cursor: query.after, next: found.next.map { String($0) }).markup)
                <p>\(Page.Link("Download these and older entries as lines of JSON", lines).markup)</p>
                <h2>Verification</h2>
                \(verify.markup)
                """)
    }

    /// A page of a search by several conditions reads a part of the log only.
    private var empty: Markup {
        found.entries.isEmpty && found.next != nil
            ? "<p>None of the entries that were searched passes. The next page searches older ones.</p>" : .empty
    }

    private var wrong: Markup {
        guard let defect else { return .empty }
        return "<section class=\"notice\" aria-label=\"Wrong field\" role=\"status\">\n<p>\(defect)</p>\n</section>\n"
    }

    private var search: Markup {
        let kinds = AuditSubject.Kind.allCases.map(\.rawValue).sorted()
        let options = ([""] + kinds).map { kind -> Markup in
            let isChosen = kind.hasSameBytes(as: query.kind ?? "")
            return "<option value=\"\(kind)\"\(isChosen ? " selected" : .empty)>\(kind.isEmpty ? "any" : kind)</option>"
        }
        return """
            <form method="get" action="/audit" class="search" autocomplete="off">
            <p><label for="kind">Kind of subject</label>
            <select id="kind" name="kind">
            \(options.joined())
            </select></p>
            \(Self.input("subject", "Id of the subject", query.subject))
            \(Self.input("event", "Event, such as session_ended", query.event))
            \(Self.input("actor", "Actor, as in an entry", query.actor))
            \(Self.input("since", "Since: 24h (ago), or 2026-01-31T23:59:59Z", query.since))
            <button type="submit" class="usual">Search</button>
            </form>
            """
    }

    private static func input(_ name: String, _ label: String, _ value: String?) -> Markup {
        """
        <p><label for="\(name)">\(label)</label>
        <input type="text" id="\(name)" name="\(name)" value="\(value ?? "")"></p>
        """
    }

    private var table: DataTable<ReadAudit.Entry> {
        DataTable(
            "Entries, newest first", none: "There is no such entry.",
            [
                .text("Entry") { $0.place.map { String($0.sequence) } ?? "not chained yet" },
                .time("At") { $0.entry.at },
                .text("Event") { $0.entry.event },
                .text("Subject") { $0.entry.subject },
                .text("Actor") { $0.entry.actor },
                .text("Reason") { $0.entry.reason },
                .text("Detail") { $0.entry.detail },
            ])
    }
}

// MARK: Verification

extension AuditListPage {
    /// - Parameters:
    ///   - report: `nil` if the log is too long to be verified while somebody waits.
    ///   - most: the largest number of entries that are verified here.
    static func verification(_ report: VerifyAudit.Report?, atMost most: Int64) -> Page {
        let above = [Page.Link("Audit log", path)]
        guard let report else {
            return Page(
                "The log was not verified", above: above,
                content: """
                    <p>The log has more than \(Int(clamping: most)) entries, which takes too long here. \
                    Run <code>countersign audit verify</code> on a machine of the service.</p>
                    """)
        }
        let first = (report.anchor?.sequence ?? 0) + 1
        var facts = Facts()
        facts.add("Verdict", report.defect == nil ? "valid" : "not valid")
        facts.add("Defect", report.defect.map { "entry \($0.sequence): \($0.description)" })
        facts.add("Verified from entry", Int(clamping: first))
        if let anchor = report.anchor { facts.add("Earlier entries were purged at", anchor.at) }
        facts.add("Valid entries", Int(clamping: report.entries))
        facts.add("Head of the chain", report.digest.base64URL)
        facts.add("Checkpoints", report.checkpoints)
        facts.add("Signed through entry", Int(clamping: report.signed))
        facts.add("Not chained yet", report.unchained)
        return Page(
            report.defect == nil ? "The log is valid" : "The log is not valid", above: above, content: facts.markup)
    }
}
