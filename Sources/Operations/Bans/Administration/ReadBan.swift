import Database
import Domain
import Repositories

/// A ban with its notes.
package struct BanDetail: Sendable {
    package let summary: BanSummary
    /// What was found; `nil` where nothing was written, or the person was erased.
    package let note: String?
    package let liftNote: String?
}

/// An admin reads a ban. Its notes may speak of people: the look is written into the audit log.
package struct ReadBan: Sendable {
    private let context: AdminContext
    private let keys: PersonalKeys

    package init(_ context: AdminContext, keys: PersonalKeys) {
        self.context = context
        self.keys = keys
    }

    /// Reads it.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ id: BanID) async throws -> BanDetail {
        let (actor, keys) = (context.actor, keys)
        return try await context.commit { transaction, events in
            let records = BanRepository(transaction)
            guard let ban = try records.find(id) else { throw Refusal(.notFound, "There is no ban \(id).") }
            let maintenance = BanMaintenance(transaction)
            let note = try maintenance.note(.note, of: id, keys: keys)
            let liftNote = try maintenance.note(.liftNote, of: id, keys: keys)
            if note != nil || liftNote != nil {
                events.record(.personalDataRead(subject: AuditSubject(.ban, id), detail: "notes"), by: actor)
            }
            return BanDetail(
                summary: BanSummary(ban: ban, entries: try records.entries(of: id)), note: note, liftNote: liftNote)
        }
    }
}
