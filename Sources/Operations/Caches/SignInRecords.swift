import Domain
import Foundation
import Synchronization

/// Attempts to sign in that are not in the store yet. They are written in batches some seconds later, so no sign-in
/// waits for it.
///
/// A crowd in one network cannot fill the memory or the store. From a number of attempts per hour, those of a provider's
/// users in the network are only counted.
package final class SignInRecords: Sendable {
    /// An attempt, with the name by which the user is found.
    struct Entry: Sendable {
        let attempt: SignInAttempt
        let externalID: String?
    }

    /// A provider's users in one network in one hour.
    struct Crowd: Sendable, Hashable {
        let hour: SignInAttempt.Tally.Hour
        let providerID: ProviderID?
        let network: String

        /// A place among all crowds, which is the same on every node.
        var order: String { "\(network) \(providerID?.description ?? "") \(hour)" }
    }

    /// How many attempts were accepted and refused.
    struct Count: Sendable, Equatable {
        var accepted = 0
        var refused = 0
    }

    /// The content at one time.
    struct Content: Sendable {
        var entries: [Entry] = []
        var counts: [Crowd: Count] = [:]
        /// The number of attempts that were lost because there were too many others.
        var dropped = 0
    }

    private struct State {
        var content = Content()
        var hour: SignInAttempt.Tally.Hour?
        /// The attempts of the hour by the hash of their crowd, those that were accepted and those that were refused. So
        /// a sender of bad tokens hides no accepted ones. Crowds with equal hashes share their number.
        var seen: [Int: Int] = [:]
        /// The refused attempts of the hour by the hash of the user whom they named.
        var refused: [Int: Int] = [:]
    }

    /// The largest number of attempts, and of crowds that are only counted.
    private let limit: Int
    /// The refused attempts of an hour that are recorded for one user. Anybody can name a user in a token, so further ones
    /// are only counted.
    private static let refusedPerUser = 20
    private let state = Mutex(State())

    init(limit: Int = 50_000) {
        self.limit = limit
    }

    /// Records an attempt.
    ///
    /// - Parameters:
    ///   - network: the sender's network.
    ///   - most: the number of attempts of a crowd that are recorded one by one.
    func note(_ entry: Entry, from network: String, most: Int) {
        let attempt = entry.attempt
        let hour = SignInAttempt.Tally.Hour(of: attempt.at)
        let crowd = Crowd(hour: hour, providerID: attempt.providerID, network: network)
        let hash = Self.hash(crowd, attempt.isAccepted)
        let user = attempt.isAccepted ? nil : entry.externalID.map { Self.hash(attempt.providerID, $0) }
        // Accepted attempts have room of their own.
        let room = attempt.isAccepted ? limit : limit - limit / 4
        state.withLock { state in
            if state.hour != hour || state.seen.count >= 10 * limit {
                (state.hour, state.seen) = (hour, [:])
                state.refused = [:]
            }
            if state.refused.count >= 10 * limit { state.refused = [:] }
            let seen = state.seen[hash, default: 0]
            let named = user.map { state.refused[$0, default: 0] } ?? 0
            if seen < most, named < Self.refusedPerUser {
                guard state.content.entries.count < room else {
                    state.content.dropped += 1
                    return
                }
                state.seen[hash] = seen + 1
                if let user { state.refused[user] = named + 1 }
                state.content.entries.append(entry)
            } else {
                state.content.add(
                    attempt.isAccepted ? Count(accepted: 1) : Count(refused: 1), of: crowd, limit: limit)
            }
        }
    }

    private static func hash(_ first: some Hashable, _ second: some Hashable) -> Int {
        var hasher = Hasher()
        hasher.combine(first)
        hasher.combine(second)
        return hasher.finalize()
    }

    /// Removes and returns the attempts and numbers collected so far.
    func takeAll() -> Content {
        state.withLock { state in
            defer { state.content = Content() }
            return state.content
        }
    }

    /// Puts back what could not be written, as far as there is room.
    func putBack(_ entries: some Sequence<Entry>, _ counts: some Sequence<(key: Crowd, value: Count)>, dropped: Int) {
        state.withLock { state in
            state.content.dropped += dropped
            for entry in entries {
                if state.content.entries.count < limit {
                    state.content.entries.append(entry)
                } else {
                    state.content.dropped += 1
                }
            }
            for (crowd, count) in counts { state.content.add(count, of: crowd, limit: limit) }
        }
    }

    /// The number of attempts to write.
    package var count: Int { state.withLock { $0.content.entries.count } }
}

extension SignInRecords.Content {
    fileprivate mutating func add(_ count: SignInRecords.Count, of crowd: SignInRecords.Crowd, limit: Int) {
        guard counts[crowd] != nil || counts.count < limit else {
            dropped += count.accepted + count.refused
            return
        }
        counts[crowd, default: .init()].accepted += count.accepted
        counts[crowd, default: .init()].refused += count.refused
    }
}
