import Domain
import Encoding

/// Limits the memory for responses that clients have not read: by connection, by certificate, by user, by provider, by
/// network and in total.
///
/// A large response is claimed before it is made. A claim beyond the connection's limit waits for earlier ones, in the
/// order of arrival, and is not counted until then. A claim beyond one of the other limits is refused. A single claim
/// is always granted, so no response is too large for ever.
struct ResponseBudget<Connection: Hashable & Sendable>: Sendable {
    /// A property that claims share, for which they have a limit.
    private enum Group: Hashable {
        case certificate(Digest256)
        case user(UserID)
        case provider(ProviderID)
        case network(String)

        var level: Level {
            switch self {
            case .certificate: .certificate
            case .user: .user
            case .provider: .provider
            case .network: .network
            }
        }
    }

    private struct Claim {
        let connection: Connection
        let groups: [(group: Group, limit: Int)]
        let stage: Stage
        var bytes: Int
        var isGranted = false
    }

    private let limits: Limits
    private var claims: [ClaimID: Claim] = [:]
    /// The waiting claims by connection, in the order of arrival.
    private var lines: [Connection: [ClaimID]] = [:]
    private var byConnection: [Connection: Int] = [:]
    private var byGroup: [Group: Int] = [:]
    private var last: ClaimID = 0
    /// The bytes of all granted claims.
    private(set) var total = 0
}

extension ResponseBudget {
    typealias ClaimID = UInt64

    /// The largest number of bytes of concurrent claims.
    struct Limits: Sendable, Equatable {
        let connection: Int
        let certificate: Int
        let user: Int
        let provider: Int
        let networks: NetworkLimits
        let total: Int
    }

    /// The receiver of the response, as far as the request has proved it.
    struct Owner: Sendable, Equatable {
        let connection: Connection
        var certificate: Digest256?
        var user: UserID?
        /// The provider whose backend receives the response. Its address is not counted: others may use it too.
        var provider: ProviderID?
        /// A limit's key for the address.
        var address: String?
    }

    enum Level: String, Sendable, CaseIterable { case certificate, user, provider, network, total }

    /// When a response is claimed.
    enum Stage: Sendable {
        /// The response is not in memory yet.
        case planned
        /// The response is in memory, so it has no turn to wait for, and delays no other: ``UnsentBytes`` limits the
        /// connection.
        case made
        /// The response is in memory, and reports a change that is stored. It is counted, but never refused.
        case committed
    }

    enum Verdict: Sendable, Equatable {
        case granted
        /// Earlier claims of its connection must end first.
        case waits
        /// A limit was reached; the claim does not exist any longer.
        case refused(Level)
    }

    /// The verdict on a claim that waited.
    struct Decision: Sendable, Equatable {
        let id: ClaimID
        let verdict: Verdict
    }

    init(limits: Limits) { self.limits = limits }

    /// The number of waiting claims.
    var waiting: Int { lines.values.reduce(0) { $0 + $1.count } }

    mutating func claim(
        _ bytes: Int, for owner: Owner, at stage: Stage = .planned
    ) -> (id: ClaimID, verdict: Verdict) {
        last &+= 1
        let connection = owner.connection
        claims[last] = Claim(connection: connection, groups: groups(of: owner), stage: stage, bytes: max(0, bytes))
        if case .planned = stage, lines[connection] != nil || !hasTurn(last) {
            lines[connection, default: []].append(last)
            return (last, .waits)
        }
        return (last, decide(last))
    }

    private func groups(of owner: Owner) -> [(group: Group, limit: Int)] {
        if let provider = owner.provider { return [(.provider(provider), limits.provider)] }
        var groups: [(group: Group, limit: Int)] = []
        if let certificate = owner.certificate { groups.append((.certificate(certificate), limits.certificate)) }
        if let user = owner.user { groups.append((.user(user), limits.user)) }
        // A proven user has a limit, and many phones share an address.
        guard owner.user == nil, let address = owner.address else { return groups }
        return groups + limits.networks.counted(address).map { (.network($0.key), $0.limit) }
    }

    /// Corrects a granted claim to the size of the finished response.
    ///
    /// - Returns: the verdicts on claims that waited for it.
    mutating func settle(_ id: ClaimID, at bytes: Int) -> [Decision] {
        guard var claim = claims[id], claim.isGranted else { return [] }
        count(claim, by: -1)
        claim.bytes = max(0, bytes)
        claims[id] = claim
        count(claim, by: 1)
        return advance(claim.connection)
    }

    /// Ends a claim: the response was read, or its request was cancelled.
    ///
    /// - Returns: the verdicts on claims that waited for it.
    mutating func end(_ id: ClaimID) -> [Decision] {
        guard let claim = claims.removeValue(forKey: id) else { return [] }
        let connection = claim.connection
        if claim.isGranted {
            count(claim, by: -1)
        } else {
            lines[connection]?.removeAll { $0 == id }
            if lines[connection]?.isEmpty == true { lines[connection] = nil }
        }
        return advance(connection)
    }

    private mutating func advance(_ connection: Connection) -> [Decision] {
        var decisions: [Decision] = []
        while let next = lines[connection]?.first, hasTurn(next) {
            lines[connection]?.removeFirst()
            decisions.append(Decision(id: next, verdict: decide(next)))
        }
        if lines[connection]?.isEmpty == true { lines[connection] = nil }
        return decisions
    }

    private mutating func decide(_ id: ClaimID) -> Verdict {
        guard var claim = claims[id] else { return .waits }
        if claim.stage != .committed, let level = fullLevel(for: claim) {
            claims[id] = nil
            return .refused(level)
        }
        claim.isGranted = true
        claims[id] = claim
        count(claim, by: 1)
        return .granted
    }

    private func hasTurn(_ id: ClaimID) -> Bool {
        guard let claim = claims[id] else { return true }
        return Self.fits(claim.bytes, beside: byConnection[claim.connection], limits.connection)
    }

    private func fullLevel(for claim: Claim) -> Level? {
        let full = claim.groups.first { !Self.fits(claim.bytes, beside: byGroup[$0.group], $0.limit) }
        if let full { return full.group.level }
        return Self.fits(claim.bytes, beside: total, limits.total) ? nil : .total
    }

    private static func fits(_ bytes: Int, beside held: Int?, _ limit: Int) -> Bool {
        guard let held, held > 0 else { return true }
        return bytes <= limit - held
    }

    private mutating func count(_ claim: Claim, by sign: Int) {
        let bytes = sign * claim.bytes
        total += bytes
        if claim.stage == .planned { Self.add(bytes, to: &byConnection, claim.connection) }
        for (group, _) in claim.groups { Self.add(bytes, to: &byGroup, group) }
    }

    private static func add<Key>(_ bytes: Int, to sums: inout [Key: Int], _ key: Key) {
        let sum = sums[key, default: 0] + bytes
        sums[key] = sum == 0 ? nil : sum
    }
}

extension ResponseBudget.Limits {
    /// The limits of a listener. A provider may claim an eighth of the total, an address a quarter, and a network of
    /// /48 half of it. So none of them uses up the memory of all.
    ///
    /// - Parameter isLimited: whether callers have limits of their own.
    init(of policy: RequestPolicy, isLimited: Bool) {
        let total = policy.unsentTotal
        self.init(
            connection: policy.maximumUnsent, certificate: isLimited ? policy.unsentPerCertificate : .max,
            user: isLimited ? policy.unsentPerUser : .max, provider: isLimited ? total / 8 : .max,
            networks: isLimited
                ? NetworkLimits(perAddress: total / 4, per56: total / 8 * 3, per48: total / 2) : .none,
            total: total)
    }
}
