import Database
import Domain
import Foundation
import Repositories

/// An admin erases a user.
package struct EraseNamedUser: Sendable {
    private let context: AdminContext
    private let keys: PersonalKeys

    package init(_ context: AdminContext, keys: PersonalKeys) {
        self.context = context
        self.keys = keys
    }

    /// Erases a user; returns the id of the audit entry.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ name: String, reason: AuditReason) async throws -> UUID {
        let receipt = context.environment.newUUID()
        let erase = EraseUser(keys: keys, actor: context.actor, reason: reason)
        try await context.commit { transaction, events in
            let user = try UserSummary.find(name, in: transaction).user.id
            try erase(user, receipt: receipt, in: transaction, &events)
        }
        return receipt
    }
}
