import Database
import Domain
import Repositories

/// Ends the breaker's limit of a scope, for an admin.
package struct ResumeTexts: Sendable {
    private let context: Administration

    package init(_ context: Administration) {
        self.context = context
    }

    /// Ends the limit. The scope's counts are reset, so it takes as many failures again to limit it.
    ///
    /// - Parameter name: the scope's name in the list.
    /// - Throws: `Refusal` `not_found` if no scope of that name is limited.
    package func callAsFunction(_ name: String, reason: AuditReason? = nil) async throws {
        let actor = context.actor
        try await context.write { transaction, events in
            guard try PhoneSendRepository(transaction).lift(name) else {
                throw Refusal.textsNotLimited
            }
            events.record(.phoneSendsResumed(name: name), by: actor, because: reason)
        }
    }
}
