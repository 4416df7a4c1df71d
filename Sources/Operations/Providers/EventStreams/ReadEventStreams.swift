import Database
import Domain
import Repositories

/// A provider reads its streams.
package struct ReadEventStreams: Sendable {
    private let context: ServiceContext

    package init(_ context: ServiceContext) {
        self.context = context
    }

    /// All of them, oldest first.
    package func callAsFunction(of provider: ProviderID) async throws -> [EventStream] {
        try await context.store.snapshot { try EventStreamRepository($0).list(of: provider) }
    }

    /// One of them, and whether its receiver wants an `Authorization` header.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ id: EventStreamID, of provider: ProviderID) async throws -> EventStream {
        try await context.store.snapshot { try EventStreamRepository($0).require(id, of: provider) }
    }
}

extension EventStreamRepository {
    /// A provider's stream. Another provider's is not found either.
    ///
    /// - Throws: `Refusal` `not_found`.
    func require(_ id: EventStreamID, of provider: ProviderID) throws -> EventStream {
        guard let stream = try find(id), stream.provider == provider else {
            throw Refusal(.notFound, "The provider has no such stream.")
        }
        return stream
    }
}
