import Encoding

/// Counts the connections of one listener, and decides which one is closed for another.
///
/// Times are nanoseconds of a monotonic clock.
package struct ConnectionCensus<ID: Hashable & Sendable>: Sendable {
    /// The largest numbers of open connections.
    package struct Limits: Sendable, Equatable {
        package let total: Int
        package let perAddress: Int
        package let perCertificate: Int

        package init(total: Int, perAddress: Int, perCertificate: Int) {
            self.total = total
            self.perAddress = perAddress
            self.perCertificate = perCertificate
        }
    }

    package enum Activity: Sendable, Equatable {
        /// The handshake is not complete.
        case handshaking(since: UInt64)
        case idle(since: UInt64)
        case busy
    }

    /// Whether a connection is accepted.
    package enum Verdict: Sendable, Equatable {
        /// Accepted; `inPlaceOf` names a connection to close for it, if one must be closed.
        case taken(inPlaceOf: ID?)
        /// Refused: the limit is reached, and every counted connection is busy.
        case refused
    }

    private struct Entry {
        var address: String?
        var certificate: Digest256?
    }

    /// A handshake that takes longer is closed before any idle connection.
    package static var patience: UInt64 { 2_000_000_000 }
    /// How many candidates for closing are kept from one scan of all connections.
    private static var remembered: Int { 64 }

    private let limits: Limits
    private var entries: [ID: Entry] = [:]
    private var byAddress: [String: Set<ID>] = [:]
    private var byCertificate: [Digest256: Set<ID>] = [:]
    /// The connections that were idle longest at the last scan, the longest idle last.
    private var candidates: [(id: ID, rank: UInt64)] = []

    package init(limits: Limits) {
        self.limits = limits
    }

    package var count: Int { entries.count }

    /// Adds an accepted connection, with its address if it is known.
    package mutating func insert(
        _ id: ID, from address: String?, now: UInt64, activity: (ID) -> Activity
    ) -> Verdict {
        entries[id] = Entry()
        guard let address else { return .taken(inPlaceOf: nil) }
        return locate(id, at: address, now: now, activity: activity)
    }

    /// Records a connection's address; `refused` if the address is at its limit with busy connections.
    package mutating func locate(
        _ id: ID, at address: String, now: UInt64, activity: (ID) -> Activity
    ) -> Verdict {
        guard entries[id] != nil else { return .refused }
        let others = byAddress[address] ?? []
        let verdict = Self.verdict(others, limits.perAddress, now, activity)
        if verdict == .refused { return verdict }
        if case .taken(let leaving?) = verdict { leaveAddress(leaving) }
        entries[id]?.address = address
        byAddress[address, default: []].insert(id)
        return verdict
    }

    /// Records a connection's certificate; `refused` if the certificate is at its limit with busy connections.
    package mutating func bind(
        _ id: ID, to certificate: Digest256, now: UInt64, activity: (ID) -> Activity
    ) -> Verdict {
        guard entries[id] != nil else { return .refused }
        let others = byCertificate[certificate] ?? []
        let verdict = Self.verdict(others, limits.perCertificate, now, activity)
        if verdict == .refused { return verdict }
        if case .taken(let leaving?) = verdict { leaveCertificate(leaving) }
        entries[id]?.certificate = certificate
        byCertificate[certificate, default: []].insert(id)
        return verdict
    }

    package mutating func remove(_ id: ID) {
        leaveAddress(id)
        leaveCertificate(id)
        entries[id] = nil
    }

    /// A closing connection no longer counts for its address, or a second one would be closed as well.
    private mutating func leaveAddress(_ id: ID) {
        guard let address = entries[id]?.address else { return }
        entries[id]?.address = nil
        byAddress[address]?.remove(id)
        if byAddress[address]?.isEmpty == true { byAddress[address] = nil }
    }

    private mutating func leaveCertificate(_ id: ID) {
        guard let certificate = entries[id]?.certificate else { return }
        entries[id]?.certificate = nil
        byCertificate[certificate]?.remove(id)
        if byCertificate[certificate]?.isEmpty == true { byCertificate[certificate] = nil }
    }

    /// The connection to close for one that waits while the listener is full; `nil` if all are busy.
    ///
    /// One scan of all connections serves many calls, because a flood causes one call for each connection.
    package mutating func makeRoom(now: UInt64, activity: (ID) -> Activity) -> ID? {
        if let next = nextCandidate(now, activity) { return next }
        candidates = entries.keys.compactMap { id in Self.rank(activity(id), now).map { (id, $0) } }
            .sorted { $0.rank < $1.rank }.prefix(Self.remembered).reversed()
        return nextCandidate(now, activity)
    }

    private mutating func nextCandidate(_ now: UInt64, _ activity: (ID) -> Activity) -> ID? {
        while let (id, rank) = candidates.popLast() {
            if entries[id] != nil, Self.rank(activity(id), now) == rank { return id }
        }
        return nil
    }

    private static func verdict(
        _ others: Set<ID>, _ limit: Int, _ now: UInt64, _ activity: (ID) -> Activity
    ) -> Verdict {
        guard others.count >= limit else { return .taken(inPlaceOf: nil) }
        let idle = others.compactMap { id in rank(activity(id), now).map { (id: id, rank: $0) } }
        return idle.min { $0.rank < $1.rank }.map { .taken(inPlaceOf: $0.id) } ?? .refused
    }

    /// The order in which connections are closed, lowest first; `nil` if one must stay open.
    private static func rank(_ activity: Activity, _ now: UInt64) -> UInt64? {
        switch activity {
        case .busy: nil
        case .idle(let since): since | 1 << 63
        case .handshaking(let since): now >= since && now - since >= patience ? since & ~(1 << 63) : nil
        }
    }
}
