import Database
import Domain
import Repositories

/// Streams as an admin sees them.
package struct ReadProviderStreams: Sendable {
    private let context: Administration

    package init(_ context: Administration) {
        self.context = context
    }

    /// The streams of a provider, by id or slug.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(of name: String) async throws -> [EventStream] {
        try await context.read { transaction in
            let provider = try ProviderRepository(transaction).require(name)
            return try EventStreamRepository(transaction).list(of: provider.id)
        }
    }

    /// One stream.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ id: EventStreamID) async throws -> EventStream {
        guard let stream = try await context.read({ try EventStreamRepository($0).find(id) }) else {
            throw Refusal.unknownEventStream(id)
        }
        return stream
    }
}
