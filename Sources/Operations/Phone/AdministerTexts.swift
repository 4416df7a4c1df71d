import Database
import Domain
import Foundation
import Repositories

/// What admins see of texts that are thinned out, and do about it, from the command line.
package struct AdministerTexts: Sendable {
    private let store: any Database
    private let environment: Environment
    private let actor: String

    /// Works on a store in an admin's name.
    package init(store: any Database, environment: Environment, actor: String) {
        self.store = store
        self.environment = environment
        self.actor = actor
    }

    /// What is thinned out now.
    package func list(limit: Int) async throws -> [PhoneSendRepository.Thinned] {
        try await store.snapshot { try PhoneSendRepository($0).thinned(limit: limit) }
    }

    /// Lets all texts out again. What had been counted is forgotten: it takes as many failures again to thin it out.
    ///
    /// - Parameter name: as the list has it.
    /// - Throws: `Refusal` `not_found` where nothing of that name is thinned out.
    package func lift(_ name: String, reason: AuditReason? = nil) async throws {
        let auditID = environment.newUUID()
        try await store.transaction { transaction in
            guard try PhoneSendRepository(transaction).lift(name) else {
                throw Refusal(.notFound, "Nothing of that name is thinned out: see the names in the list.")
            }
            try AuditRepository(transaction).append(
                .phoneSendsResumed, subject: name, actor: actor, reason: reason, id: auditID)
        }
    }
}
