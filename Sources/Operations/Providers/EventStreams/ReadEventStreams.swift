import Database
import Domain
import Foundation
import Repositories

package extension EventStream {
    /// About how many bytes the list has that a policy allows: a hundred streams.
    static let largestList = 131_072
}

package extension Service {
    /// All streams of a provider, oldest first.
    func listEventStreams(of provider: ProviderID) async throws -> [EventStream] {
        let streams = try await read { try EventStreamRepository($0).list(of: provider) }
        for stream in streams { try await noteActivity(of: stream) }
        return streams
    }

    /// One of a provider's streams.
    ///
    /// - Throws: `Refusal` `not_found`.
    func readEventStream(_ id: EventStreamID, of provider: ProviderID) async throws -> EventStream {
        let stream = try await read { try EventStreamRepository($0).require(id, of: provider) }
        try await noteActivity(of: stream)
        return stream
    }
}

extension Service {
    /// Notes that a receiver attends to its stream, if somebody looks at that: seldom, since it is a write.
    func noteActivity(of stream: EventStream) async throws {
        guard let limit = policy[\.webhooks].streamInactivity else { return }
        let age = stream.activeAt.map { environment.now().timeIntervalSince($0) } ?? .infinity
        guard age > min(60, limit / 4) else { return }
        try await store.transaction { try EventStreamRepository($0).setActive($0.now, of: stream.id) }
    }
}

extension EventStreamRepository {
    /// A provider's stream. Another provider's is not found either.
    ///
    /// - Throws: `Refusal` `not_found`.
    func require(_ id: EventStreamID, of provider: ProviderID) throws -> EventStream {
        guard let stream = try find(id), stream.provider == provider else {
            throw Refusal.unknownOwnEventStream
        }
        return stream
    }
}
