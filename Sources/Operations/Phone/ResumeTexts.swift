import Database
import Domain
import Repositories

/// An admin lets texts out again that were thinned out.
package struct ResumeTexts: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// Lets all texts out again. What had been counted is forgotten: it takes as many failures again to thin it out.
    ///
    /// - Parameter name: as the list has it.
    /// - Throws: `Refusal` `not_found` where nothing of that name is thinned out.
    package func callAsFunction(_ name: String, reason: AuditReason? = nil) async throws {
        let actor = context.actor
        try await context.commit { transaction, events in
            guard try PhoneSendRepository(transaction).lift(name) else {
                throw Refusal(.notFound, "Nothing of that name is thinned out: see the names in the list.")
            }
            events.record(.phoneSendsResumed(name: name), by: actor, because: reason)
        }
    }
}
