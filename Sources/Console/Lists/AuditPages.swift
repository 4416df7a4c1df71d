import Domain
import Encoding
import Foundation
import Operations

/// The audit log: a search, its verification, and its lines for a program.
enum AuditPages {
    static let routes: [ConsoleRoute] = [
        .page("/audit", .audit, cost: .read, query: ["kind", "subject", "event", "actor", "since", "after"], list),
        .page(
            "/audit/lines", .audit, cost: .heavy, query: ["kind", "subject", "event", "actor", "since", "after"], lines),
        .action("/audit/verify", .audit, cost: .heavy, verify),
    ]

    /// The largest log that is verified while an administrator waits.
    private static let mostVerified: Int64 = 200_000
    private static let mostLines = 2000

    @Sendable private static func list(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let query = AuditQuery(request)
        let verify = request.form(to: PagePath("/audit/verify"), [], submit: "Verify the whole log now")
        // A wrong field can be corrected on the page: what the others have stays.
        let filter: ReadAudit.Filter
        do throws(Refusal) {
            filter = try query.filter(at: request.now)
        } catch {
            return .page(AuditListPage(query: query, found: ([], nil), defect: error.detail, verify: verify).page)
        }
        let page = try await request.administration.browseAudit(
            filter, before: try query.position(), count: AuditListPage.limit)
        return .page(AuditListPage(query: query, found: page, verify: verify).page)
    }

    @Sendable private static func lines(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let query = AuditQuery(request)
        let found = try await request.administration.browseAudit(
            try query.filter(at: request.now), before: try query.position(), count: mostLines)
        var bytes: [UInt8] = []
        for entry in found.entries {
            ReadAudit.json(entry.entry, place: entry.place).appendJSON(to: &bytes)
            bytes.append(UInt8(ascii: "\n"))
        }
        return .download(bytes, name: "audit.jsonl", mediaType: "application/jsonl")
    }

    @Sendable private static func verify(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let report = try await request.administration.verifyAudit(
            keys: request.parts.auditKeys(), atMost: mostVerified, by: request.parts.verification)
        return .page(AuditListPage.verification(report, atMost: mostVerified))
    }
}

/// The conditions of a search, as a form has them.
struct AuditQuery: Sendable {
    /// The kind of the subject, such as `user`; `nil` for any.
    let kind: String?
    let subject: String?
    let event: String?
    let actor: String?
    /// The earliest time: `24h` for hours ago, or a time with its zone.
    let since: String?
    let after: String?
}

extension AuditQuery {
    init(_ request: ConsoleRequest) {
        kind = request.value("kind")
        subject = request.value("subject")
        event = request.value("event")
        actor = request.value("actor")
        since = request.value("since")
        after = request.value("after")
    }

    /// - Throws: `Refusal` `malformed_request` for a field with a wrong value.
    func filter(at now: Date) throws(Refusal) -> ReadAudit.Filter {
        try ReadAudit.Filter(
            wholeSubject: try wholeSubject(), event: event, actor: actor, since: try start(at: now))
    }

    /// The subject as the log has it.
    private func wholeSubject() throws(Refusal) -> String? {
        guard let subject else { return nil }
        guard let kind = kind.flatMap({ AuditSubject.Kind(rawValue: $0) }) else { throw Refusal.fieldMissing("Kind") }
        return AuditSubject(kind, subject).description
    }

    private func start(at now: Date) throws(Refusal) -> Date? {
        guard let since else { return nil }
        if let hours = since.utf8.last == UInt8(ascii: "h") ? UInt16(since.dropLast()) : nil {
            return now.addingTimeInterval(-3600 * TimeInterval(hours))
        }
        guard let time = Date(rfc3339: since) else { throw Refusal.fieldUnreadable("Since") }
        return time
    }

    /// The number before which the page begins.
    func position() throws(Refusal) -> Int64? {
        guard let after else { return nil }
        guard let number = Int64(after), number > 0 else { throw Refusal.fieldUnreadable("after") }
        return number
    }

    /// A path with these conditions, without the cursor.
    func path(_ path: PagePath) -> PagePath {
        path.adding("kind", subject == nil ? nil : kind).adding("subject", subject).adding("event", event)
            .adding("actor", actor).adding("since", since)
    }
}
