import Encoding

/// Who holds the connections of one listener, and who gives way to whom.
///
/// Times are nanoseconds of a clock that never runs backwards.
package struct ConnectionCensus<ID: Hashable & Sendable>: Sendable {
    /// How many may be open.
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
        /// It has not ended its handshake.
        case handshaking(since: UInt64)
        case idle(since: UInt64)
        case busy
    }

    /// Whether a connection is taken.
    package enum Verdict: Sendable, Equatable {
        /// It is; another closes for it, if one is named.
        case taken(inPlaceOf: ID?)
        /// Those of its kind are all at work.
        case refused
    }

    private struct Entry {
        var address: String?
        var certificate: Digest256?
    }

    /// A handshake that takes longer gives way before anything that is idle.
    package static var patience: UInt64 { 2_000_000_000 }
    /// How many that would give way are remembered from one look at all.
    private static var remembered: Int { 64 }

    private let limits: Limits
    private var entries: [ID: Entry] = [:]
    private var byAddress: [String: Set<ID>] = [:]
    private var byCertificate: [Digest256: Set<ID>] = [:]
    /// Those that were longest idle when all were last looked at, the last of them first.
    private var candidates: [(id: ID, rank: UInt64)] = []

    package init(limits: Limits) {
        self.limits = limits
    }

    package var count: Int { entries.count }

    /// A connection was accepted, from an address if it is known.
    package mutating func insert(
        _ id: ID, from address: String?, now: UInt64, activity: (ID) -> Activity
    ) -> Verdict {
        entries[id] = Entry()
        guard let address else { return .taken(inPlaceOf: nil) }
        return locate(id, at: address, now: now, activity: activity)
    }

    /// A connection's address became known.
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

    /// A connection's certificate became known.
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

    /// Who gives way is not counted while it closes, or another would have to close as well.
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

    /// Who closes for a connection that waits while the listener is full; `nil` if all are at work.
    ///
    /// All are looked at once for many of these questions: a flood asks as often as it connects.
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

    /// The order in which connections give way; `nil` if one does not.
    private static func rank(_ activity: Activity, _ now: UInt64) -> UInt64? {
        switch activity {
        case .busy: nil
        case .idle(let since): since | 1 << 63
        case .handshaking(let since): now >= since && now - since >= patience ? since & ~(1 << 63) : nil
        }
    }
}
