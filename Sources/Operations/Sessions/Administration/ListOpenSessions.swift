import Database
import Domain
import Repositories

/// The sessions that an admin sees.
package struct ListOpenSessions: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// Whose sessions.
    package enum Scope: Sendable {
        case all
        /// By id, or by `<provider slug>/<external id>`.
        case user(String)
        case device(DeviceID)
        /// By slug or id.
        case provider(String)
    }

    /// The newest sessions that were not ended.
    ///
    /// - Parameter cursor: the last one on the page before.
    /// - Throws: `Refusal` `not_found` for a user, device or provider.
    package func callAsFunction(
        limit: Int, after cursor: SessionID? = nil, _ scope: Scope = .all
    ) async throws -> [Session] {
        try await context.store.snapshot { transaction in
            let sessions = SessionRepository(transaction)
            func few(_ scope: SessionScope) throws -> [Session] {
                let open = try sessions.listOpen(scope).sorted { $0.id.description > $1.id.description }
                let rest = open.drop { session in cursor.map { session.id.description >= $0.description } ?? false }
                return Array(rest.prefix(limit))
            }
            switch scope {
            case .all: return try sessions.listOpen(limit: limit, after: cursor)
            case .user(let name): return try few(.user(try UserSummary.find(name, in: transaction).user.id))
            case .device(let id):
                guard try DeviceRepository(transaction).exists(id) else {
                    throw Refusal(.notFound, "There is no device \(id).")
                }
                return try few(.device(id))
            case .provider(let name):
                let provider = try ProviderRepository(transaction).require(name)
                return try sessions.listOpen(limit: limit, after: cursor, of: provider.id)
            }
        }
    }
}
