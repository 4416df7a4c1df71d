import Database
import Domain
import Repositories

/// An admin reads all stored data of a user. The access is audited, with admin and reason.
package struct ExportUser: Sendable {
    private let context: AdminContext
    private let keys: PersonalKeys

    package init(_ context: AdminContext, keys: PersonalKeys) {
        self.context = context
        self.keys = keys
    }

    /// All stored data of a user.
    ///
    /// - Parameter reason: why the admin reads it; stored in the audit log.
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ name: String, reason: AuditReason) async throws -> PersonalExport {
        let (actor, keys) = (context.actor, keys)
        return try await context.commit { transaction, events in
            let summary = try UserSummary.find(name, in: transaction)
            events.record(
                .personalDataRead(subject: AuditSubject(.user, summary.user.id), detail: nil), by: actor,
                because: reason)
            return try PersonalExport.collect(summary.user, address: summary.address, keys: keys, in: transaction)
        }
    }
}
