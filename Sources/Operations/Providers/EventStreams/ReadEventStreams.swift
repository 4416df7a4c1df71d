import Database
import Domain
import Foundation
import Repositories

package extension EventStream {
    /// The approximate maximum size in bytes of a list of a hundred streams, the most that a policy allows.
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
    /// Records that a receiver uses its stream, if its inactivity is limited. It does so seldom, because it is a write.
    func noteActivity(of stream: EventStream) async throws {
        guard let limit = policy[\.webhooks].streamInactivity else { return }
        let age = stream.activeAt.map { environment.now().timeIntervalSince($0) } ?? .infinity
        guard age > min(60, limit / 4) else { return }
        try await store.transaction { try EventStreamRepository($0).setActive($0.now, of: stream.id) }
    }
}

extension EventStreamRepository {
    /// The provider's stream with an id; another provider's stream is not found.
    ///
    /// - Throws: `Refusal` `not_found`.
    func require(_ id: EventStreamID, of provider: ProviderID) throws -> EventStream {
        guard let stream = try find(id), stream.provider == provider else {
            throw Refusal.unknownOwnEventStream
        }
        return stream
    }
}
