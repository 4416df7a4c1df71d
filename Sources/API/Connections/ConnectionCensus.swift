import Domain
import Encoding

/// Counts the connections of one listener, and decides which one is closed to make room for a new one.
///
/// Times are nanoseconds of a monotonic clock.
struct ConnectionCensus<ID: Hashable & Sendable>: Sendable {
    /// A property that connections share, for which they have a limit.
    private enum Group: Hashable {
        case network(String)
        case certificate(Digest256)
    }

    private struct Members {
        var ids: Set<ID> = []
        var queue = Queue()
    }

    /// The connections to close next. One scan serves many calls, because a flood causes a call for each connection.
    private struct Queue {
        /// How many candidates one scan keeps.
        private static var remembered: Int { 64 }
        /// Nanoseconds before the next scan after one that found no candidate.
        private static var pause: UInt64 { 100_000_000 }

        /// The connections that were idle for longest at the last scan, in reverse order.
        private var candidates: [(id: ID, rank: UInt64)] = []
        private var nobodyUntil: UInt64 = 0

        mutating func next(
            among ids: some Collection<ID>, _ isThere: (ID) -> Bool, now: UInt64, activity: (ID) -> Activity
        ) -> ID? {
            if let next = nextCandidate(isThere, now, activity) { return next }
            guard now >= nobodyUntil else { return nil }
            candidates = ids.filter(isThere).compactMap { id in activity(id).rank(at: now).map { (id, $0) } }
                .sorted { $0.rank < $1.rank }.prefix(Self.remembered).reversed()
            if candidates.isEmpty { nobodyUntil = now.addingReportingOverflow(Self.pause).partialValue }
            return nextCandidate(isThere, now, activity)
        }

        private mutating func nextCandidate(
            _ isThere: (ID) -> Bool, _ now: UInt64, _ activity: (ID) -> Activity
        ) -> ID? {
            while let (id, rank) = candidates.popLast() {
                if isThere(id), activity(id).rank(at: now) == rank { return id }
            }
            return nil
        }
    }

    private let limits: Limits
    private var entries: [ID: [Group]] = [:]
    private var groups: [Group: Members] = [:]
    private var queue = Queue()
    /// Connections that are being closed to make room, and the groups that they left. They stay open until their peer
    /// has answered the end of TLS, and none is chosen twice.
    private var leaving: [ID: [Group]] = [:]
}

extension ConnectionCensus {
    typealias Activity = PeerActivity

    /// The largest numbers of open connections.
    struct Limits: Sendable, Equatable {
        let total: Int
        let networks: NetworkLimits
        let perCertificate: Int
    }

    /// Whether a connection is accepted.
    enum Verdict: Sendable, Equatable {
        /// Accepted. If `inPlaceOf` is not `nil`, that connection must be closed.
        case taken(inPlaceOf: ID?)
        /// Refused: a limit is reached, and every counted connection is busy.
        case refused
    }

    init(limits: Limits) {
        self.limits = limits
    }

    /// The open connections without those that are being closed to make room.
    var count: Int { entries.count - leaving.count }

    /// - Parameter address: `nil` if it is not known yet.
    mutating func insert(
        _ id: ID, from address: String?, now: UInt64, activity: (ID) -> Activity
    ) -> Verdict {
        entries[id] = []
        guard let address else { return .taken(inPlaceOf: nil) }
        return locate(id, at: address, now: now, activity: activity)
    }

    /// Records a connection's address; `refused` if the address or a network around it is at its limit and all of its
    /// connections are busy.
    mutating func locate(
        _ id: ID, at address: String, now: UInt64, activity: (ID) -> Activity
    ) -> Verdict {
        join(id, limits.networks.counted(address).map { (.network($0.key), $0.limit) }, now, activity)
    }

    /// Records a connection's certificate; `refused` if the certificate is at its limit and all of its connections are
    /// busy.
    mutating func bind(
        _ id: ID, to certificate: Digest256, now: UInt64, activity: (ID) -> Activity
    ) -> Verdict {
        join(id, [(.certificate(certificate), limits.perCertificate)], now, activity)
    }

    /// - Parameter wanted: each group is part of the next one.
    private mutating func join(
        _ id: ID, _ wanted: [(group: Group, limit: Int)], _ now: UInt64, _ activity: (ID) -> Activity
    ) -> Verdict {
        guard entries[id] != nil else { return .refused }
        var leaving: ID?
        // Closing a connection of the narrowest full group makes room in the groups around it too.
        if let full = wanted.first(where: { (groups[$0.group]?.ids.count ?? 0) >= $0.limit }) {
            guard let next = next(of: full.group, now, activity) else { return .refused }
            close(next)
            leaving = next
        }
        enter(id, wanted.map(\.group))
        return .taken(inPlaceOf: leaving)
    }

    private mutating func next(of group: Group, _ now: UInt64, _ activity: (ID) -> Activity) -> ID? {
        guard let ids = groups[group]?.ids else { return nil }
        return groups[group]?.queue.next(among: ids, { ids.contains($0) }, now: now, activity: activity)
    }

    mutating func remove(_ id: ID) {
        leave(id)
        entries[id] = nil
        leaving[id] = nil
    }

    /// Counts a connection again that was not closed after all, because its peer continued at that moment.
    mutating func keep(_ id: ID) {
        guard let groups = leaving.removeValue(forKey: id) else { return }
        enter(id, groups)
    }

    private mutating func enter(_ id: ID, _ wanted: [Group]) {
        for group in wanted {
            entries[id]?.append(group)
            groups[group, default: Members()].ids.insert(id)
        }
    }

    private mutating func close(_ id: ID) {
        leaving[id] = entries[id]
        leave(id)
    }

    /// A closing connection leaves its groups, or a second one would be closed for the same request.
    private mutating func leave(_ id: ID) {
        for group in entries[id] ?? [] {
            groups[group]?.ids.remove(id)
            if groups[group]?.ids.isEmpty == true { groups[group] = nil }
        }
        if entries[id] != nil { entries[id] = [] }
    }

    /// The connection to close for a new one while the listener is full; `nil` if all are busy.
    mutating func makeRoom(now: UInt64, activity: (ID) -> Activity) -> ID? {
        guard let next = nextOfAll(now, activity) else { return nil }
        close(next)
        return next
    }

    private mutating func nextOfAll(_ now: UInt64, _ activity: (ID) -> Activity) -> ID? {
        let (entries, leaving) = (entries, leaving)
        return queue.next(
            among: entries.keys, { entries[$0] != nil && leaving[$0] == nil }, now: now, activity: activity)
    }
}
