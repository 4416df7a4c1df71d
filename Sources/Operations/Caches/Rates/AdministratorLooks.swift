import Domain
import Encoding
import Foundation
import Synchronization

/// The persons whose data administrators looked at within the last hour, on this node.
final class AdministratorLooks: Sendable {
    private struct Look {
        /// The person; `nil` for one that is known by a name only.
        var user: UserID?
        /// Digests of what led to the person: a number, a device, a ban.
        var names: Set<Digest256>
        var at: Date

        /// Whether a look at these users by this name is at this person.
        func isAgain(_ name: Digest256, _ users: [UserID]) -> Bool {
            guard let user, !users.isEmpty else { return names.contains(name) }
            return users.contains(user)
        }
    }

    private struct State {
        var looks: [AdministratorID: [Look]] = [:]
        var refused: [AdministratorID: (name: String, at: Date)] = [:]
    }

    private let state = Mutex(State())

    /// The persons at whom one administrator may look in any period.
    static let limit = RateLimit(count: 60, per: 3600)
    /// The largest number of names that are kept for a person.
    private static let mostNames = 16

    /// Counts a look of an administrator at the data of a person. A person at whom the administrator looked within the
    /// period is free.
    ///
    /// - Parameters:
    ///   - name: a digest of what leads to the person.
    ///   - users: the users whose data is shown, if they are known. Several are one look.
    /// - Throws: `Refusal` `rate_limited`.
    func count(
        _ name: Digest256, of users: [UserID], by administrator: Administrator, now: Date
    ) throws(Refusal) {
        let retryAfter = state.withLock { state in
            Self.forget(&state.looks, at: now)
            let retryAfter = Self.count(name, users, in: &state.looks[administrator.id, default: []], now: now)
            if retryAfter != nil { state.refused[administrator.id] = (administrator.name, now) }
            return retryAfter
        }
        if let retryAfter { throw Refusal.tooManyLooks(Self.limit.count, retryAfter: retryAfter) }
    }

    /// - Returns: the seconds until another person is admitted; `nil` for a look that is.
    private static func count(
        _ name: Digest256, _ users: [UserID], in looks: inout [Look], now: Date
    ) -> Int? {
        let user = users.count == 1 ? users.first : nil
        let known =
            looks.firstIndex { $0.user.map(users.contains) ?? false } ?? looks.firstIndex { $0.isAgain(name, users) }
        guard let known else {
            guard looks.count < limit.count else {
                let oldest = looks.map(\.at).min() ?? now
                return max(1, Int(saturating: (limit.period - now.timeIntervalSince(oldest)).rounded(.up)))
            }
            looks.append(Look(user: user, names: [name], at: now))
            return nil
        }
        var look = looks.remove(at: known)
        // The look by this name was at this user, who counts once.
        if user != nil { looks.removeAll { $0.user == nil && $0.names.contains(name) } }
        if look.user == nil { look.user = user }
        if look.names.count < mostNames { look.names.insert(name) }
        look.at = now
        looks.append(look)
        return nil
    }

    /// Forgets the looks of more than a period ago. A clock that is set back forgets none of the last period.
    private static func forget(_ looks: inout [AdministratorID: [Look]], at now: Date) {
        looks = looks.compactMapValues { looks in
            let kept = looks.filter { now.timeIntervalSince($0.at).magnitude < limit.period }
            return kept.isEmpty ? nil : kept
        }
    }

    /// The administrators who were refused since a time, by name.
    func refused(since start: Date) -> [(name: String, at: Date)] {
        state.withLock { state in
            state.refused = state.refused.filter { $0.value.at >= start }
            return state.refused.values.sorted { $0.name < $1.name }
        }
    }
}
