import Database
import Domain
import Repositories

/// One session as an admin sees it.
package struct ReadSession: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// The session with an id, ended ones too.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ id: SessionID) async throws -> Session {
        guard let session = try await context.store.snapshot({ try SessionRepository($0).find(id) }) else {
            throw Self.unknown(id)
        }
        return session
    }

    static func unknown(_ id: SessionID) -> Refusal { Refusal(.notFound, "There is no session \(id).") }
}
