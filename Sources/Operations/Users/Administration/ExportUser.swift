import Database
import Domain
import Repositories

/// An admin reads everything that is held on a user. The look is written into the audit log, with who and why.
package struct ExportUser: Sendable {
    private let context: AdminContext
    private let keys: PersonalKeys

    package init(_ context: AdminContext, keys: PersonalKeys) {
        self.context = context
        self.keys = keys
    }

    /// Everything that is held on a user.
    ///
    /// - Parameter reason: why the admin looks; kept in the audit log.
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ name: String, reason: AuditReason) async throws -> PersonalExport {
        let (actor, keys) = (context.actor, keys)
        return try await context.commit { transaction, events in
            let summary = try UserSummary.find(name, in: transaction)
            events.record(
                .personalDataRead(subject: "user \(summary.user.id)", detail: nil), by: actor, because: reason)
            return try PersonalExport.collect(summary.user, address: summary.address, keys: keys, in: transaction)
        }
    }
}
