import Domain
import Foundation
import Synchronization

/// How often administrators looked at the data of a person, on this node.
final class AdministratorLooks: Sendable {
    private struct State {
        var arrivals: [AdministratorID: Date] = [:]
        var refused: [AdministratorID: (name: String, at: Date)] = [:]
    }

    private let state = Mutex(State())

    /// The looks of one administrator.
    static let limit = RateLimit(count: 60, per: 3600)

    /// Counts a look of an administrator at the data of a person.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    func count(by administrator: Administrator, now: Date) throws(Refusal) {
        let verdict = state.withLock { state in
            let verdict = Self.limit.evaluate(arrival: state.arrivals[administrator.id], now: now)
            switch verdict {
            case .admitted(let next): state.arrivals[administrator.id] = next
            case .refused: state.refused[administrator.id] = (administrator.name, now)
            }
            return verdict
        }
        guard case .refused(let retryAfter) = verdict else { return }
        throw Refusal.tooManyLooks(Self.limit.count, retryAfter: retryAfter)
    }

    /// The administrators who were refused since a time, by name.
    func refused(since start: Date) -> [(name: String, at: Date)] {
        state.withLock { state in
            state.refused = state.refused.filter { $0.value.at >= start }
            return state.refused.values.sorted { $0.name < $1.name }
        }
    }
}
