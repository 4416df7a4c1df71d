import Domain
import Foundation
import Synchronization

/// Receivers that wait for an event of a stream (RFC 8936 §2.4). They hold no connection to the store.
final class WaitingPolls: Sendable {
    private struct State {
        var waiting: [UUID: (stream: EventStreamID, wake: AsyncStream<Void>.Continuation)] = [:]
        var byStream: [EventStreamID: Set<UUID>] = [:]
        var byProvider: [ProviderID: Int] = [:]
    }

    private let state = Mutex(State())

    /// One of them, with a place that its provider has until ``leave(_:)``.
    struct Place: Sendable {
        let id: UUID
        let stream: EventStreamID
        let provider: ProviderID
        fileprivate let rings: AsyncStream<Void>
        fileprivate let wake: AsyncStream<Void>.Continuation

        /// Waits until an event may be there, at most so many seconds. A cancelled task waits no longer.
        func wait(_ seconds: TimeInterval) async {
            // A cancelled iteration would end the stream for good, so the alarm rings it.
            let alarm = Task { [wake] in
                guard (try? await Task.sleep(for: .seconds(seconds))) != nil else { return }
                wake.yield()
            }
            defer { alarm.cancel() }
            for await _ in rings { return }
        }
    }

    /// Takes a place; `nil` if the provider has as many as it may.
    func enter(_ stream: EventStreamID, of provider: ProviderID, limit: Int) -> Place? {
        let (rings, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = UUID()
        let isFree = state.withLock { state in
            guard state.byProvider[provider, default: 0] < limit else { return false }
            state.byProvider[provider, default: 0] += 1
            state.byStream[stream, default: []].insert(id)
            state.waiting[id] = (stream, wake)
            return true
        }
        return isFree ? Place(id: id, stream: stream, provider: provider, rings: rings, wake: wake) : nil
    }

    func leave(_ place: Place) {
        state.withLock { state in
            state.waiting[place.id] = nil
            state.byStream[place.stream]?.remove(place.id)
            if state.byStream[place.stream]?.isEmpty == true { state.byStream[place.stream] = nil }
            let rest = state.byProvider[place.provider, default: 1] - 1
            state.byProvider[place.provider] = rest > 0 ? rest : nil
        }
    }

    /// Wakes the receivers of some streams.
    func wake(_ streams: Set<EventStreamID>) {
        guard !streams.isEmpty else { return }
        state.withLock { state in
            for id in streams.flatMap({ state.byStream[$0] ?? [] }) { state.waiting[id]?.wake.yield() }
        }
    }
}
