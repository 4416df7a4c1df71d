import Delivery
import Domain
import Encoding
import Foundation
import Synchronization
import Tokens

/// A status list that a credential names. Its signer must have the same root as the credential's signer. So a list, or a
/// failed fetch, of one issuer has no effect on another issuer that names the same URI.
struct StatusListName: Hashable, Sendable {
    let uri: String
    let root: [UInt8]
    let format: RequestedCredential.Format
    /// Different texts may be equal as `String`.
    private let bytes: [UInt8]

    /// The party that names the URI, on any host.
    var owner: HostOwner { .credentialRoot(Digest256.of(root)) }

    init(uri: String, root: [UInt8], format: RequestedCredential.Format) {
        (self.uri, self.root, self.format) = (uri, root, format)
        bytes = Array(uri.utf8)
    }
}

/// Status lists that were fetched and verified. One request at a time fetches a list, and the others wait for it.
final class StatusLists: Sendable {
    typealias Found = Result<StatusList.Verified, StatusList.Defect>
    /// Verifies what was fetched at a time.
    typealias Verify = @Sendable ([UInt8], Date) throws(StatusList.Defect) -> StatusList.Verified

    private let now: @Sendable () -> Date
    private let fetch: FetchList
    private let state = Mutex(State())

    /// A list is kept for this long, unless it says less, seconds.
    static let lifetime: TimeInterval = 300
    /// A failure is kept for this long, seconds. A list is not fetched sooner because it lacks an index.
    static let failureLifetime: TimeInterval = 30
    /// An issuer may still publish a list just after its `exp`. It is kept for this long, seconds.
    private static let shortestLifetime: TimeInterval = 5
    /// The most lists and failures that are kept, and the most bytes of lists. The oldest ones are dropped first.
    static let maximumCount = 1024
    static let maximumSize = 64 << 20
    /// The most fetches at a time, and the most for the issuers below one root, so that a slow issuer leaves some to others.
    static let maximumFetches = 16
    static let maximumFetchesByRoot = 4
    /// The last places are for roots that have no fetch, so that no four slow roots take all.
    static let firstFetches = 4

    /// Whether a root may begin another fetch.
    ///
    /// - Parameters:
    ///   - own: its fetches under way.
    ///   - all: those of all roots.
    static func mayFetch(own: Int, all: Int) -> Bool {
        own < maximumFetchesByRoot && all < (own == 0 ? maximumFetches : maximumFetches - firstFetches)
    }

    private struct State {
        var kept: [StatusListName: Kept] = [:]
        var fetches: [StatusListName: Task<Found, Never>] = [:]
    }

    private struct Kept {
        let found: Found
        let fetchedAt: Date
        /// When it was last asked for, which may have failed.
        var triedAt: Date

        var list: StatusList.Verified? { try? found.get() }

        // A clock may have been set back.
        func isFresh(at moment: Date) -> Bool {
            let own = list.map { min(StatusLists.lifetime, max($0.lifetime, StatusLists.shortestLifetime)) }
            return moment.timeIntervalSince(fetchedAt).magnitude < own ?? StatusLists.failureLifetime
        }

        /// Whether it still answers for an index.
        func isUsable(for index: Int, at moment: Date) -> Bool {
            guard isFresh(at: moment) else { return false }
            let isNew = moment.timeIntervalSince(triedAt).magnitude < StatusLists.failureLifetime
            return isNew || list?.contains(index) ?? true
        }
    }

    init(now: @escaping @Sendable () -> Date, fetch: @escaping FetchList) {
        self.now = now
        self.fetch = fetch
    }

    /// The list, or why it cannot be used; `nil` if it must be fetched.
    func kept(_ name: StatusListName, for index: Int) -> Found? {
        let moment = now()
        return state.withLock { state in
            state.kept[name].flatMap { $0.isUsable(for: index, at: moment) ? $0.found : nil }
        }
    }

    /// The list, fetched unless it is kept.
    func find(_ name: StatusListName, for index: Int, verify: @escaping Verify) async -> Found {
        let moment = now()
        let (known, running) = state.withLock { state -> (Found?, Task<Found, Never>?) in
            if let known = state.kept[name], known.isUsable(for: index, at: moment) { return (known.found, nil) }
            if let running = state.fetches[name] { return (nil, running) }
            let own = state.fetches.keys.count { $0.root == name.root }
            guard Self.mayFetch(own: own, all: state.fetches.count) else { return (nil, nil) }
            // It ends for all who wait, even if the first of them leaves.
            let task = Task { await fetched(name, verify) }
            state.fetches[name] = task
            return (nil, task)
        }
        if let known { return known }
        return await running?.value ?? .failure(.unavailable(name.uri))
    }

    private func fetched(_ name: StatusListName, _ verify: Verify) async -> Found {
        let bytes = await fetch(name.uri, name.owner)
        let moment = now()
        let found: Found
        do throws(StatusList.Defect) {
            guard let bytes else { throw .unavailable(name.uri) }
            found = .success(try verify(bytes, moment))
        } catch {
            found = .failure(error)
        }
        return state.withLock { state in
            state.fetches[name] = nil
            if case .failure = found, var old = state.kept[name], old.list != nil, old.isFresh(at: moment) {
                // The list lacks an index, and is still right for the others.
                old.triedAt = moment
                state.kept[name] = old
                return old.found
            }
            let kept = Kept(found: found, fetchedAt: moment, triedAt: moment)
            state.kept[name] = nil
            var (count, size) = (
                state.kept.count, state.kept.values.reduce(kept.list?.size ?? 0) { $0 + ($1.list?.size ?? 0) }
            )
            if count >= Self.maximumCount || size > Self.maximumSize {
                for (other, old) in state.kept.sorted(by: { $0.value.fetchedAt < $1.value.fetchedAt }) {
                    guard count >= Self.maximumCount || size > Self.maximumSize else { break }
                    state.kept[other] = nil
                    (count, size) = (count - 1, size - (old.list?.size ?? 0))
                }
            }
            state.kept[name] = kept
            return found
        }
    }
}

extension StatusList.Defect {
    static func unavailable(_ uri: String) -> StatusList.Defect {
        StatusList.Defect("The status list at \(uri.prefix(256)) is not available.")
    }
}
