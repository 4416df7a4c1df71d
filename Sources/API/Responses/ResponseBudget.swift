import Domain
import Encoding

/// Limits the memory for responses that clients have not read: by connection, by certificate, by user and in total.
///
/// A large response is claimed before it is made. A claim beyond the connection's limit waits for earlier ones, in the
/// order of arrival, and is not counted until then. A claim beyond one of the other limits is refused. A single claim
/// is always granted, so no response is too large for ever.
struct ResponseBudget<Connection: Hashable & Sendable>: Sendable {
    private struct Claim {
        let owner: Owner
        var bytes: Int
        var isGranted = false
    }

    private let limits: Limits
    private var claims: [ClaimID: Claim] = [:]
    /// The waiting claims by connection, in the order of arrival.
    private var lines: [Connection: [ClaimID]] = [:]
    private var byConnection: [Connection: Int] = [:]
    private var byCertificate: [Digest256: Int] = [:]
    private var byUser: [UserID: Int] = [:]
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
        let total: Int
    }

    /// The receiver of the response. On a listener without client certificates, certificate and user are `nil`.
    struct Owner: Sendable, Equatable {
        let connection: Connection
        let certificate: Digest256?
        let user: UserID?
    }

    enum Level: String, Sendable, CaseIterable { case certificate, user, total }

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

    /// Claims bytes before the response is made.
    mutating func claim(_ bytes: Int, for owner: Owner) -> (id: ClaimID, verdict: Verdict) {
        last &+= 1
        claims[last] = Claim(owner: owner, bytes: max(0, bytes))
        guard lines[owner.connection] == nil, hasTurn(last) else {
            lines[owner.connection, default: []].append(last)
            return (last, .waits)
        }
        return (last, decide(last))
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
        return advance(claim.owner.connection)
    }

    /// Ends a claim: the response was read, or its request was cancelled.
    ///
    /// - Returns: the verdicts on claims that waited for it.
    mutating func end(_ id: ClaimID) -> [Decision] {
        guard let claim = claims.removeValue(forKey: id) else { return [] }
        let connection = claim.owner.connection
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
        if let level = fullLevel(for: claim) {
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
        return Self.fits(claim.bytes, beside: byConnection[claim.owner.connection], limits.connection)
    }

    private func fullLevel(for claim: Claim) -> Level? {
        let (bytes, owner) = (claim.bytes, claim.owner)
        if !Self.fits(bytes, beside: owner.certificate.flatMap { byCertificate[$0] }, limits.certificate) {
            return .certificate
        }
        if !Self.fits(bytes, beside: owner.user.flatMap { byUser[$0] }, limits.user) { return .user }
        return Self.fits(bytes, beside: total, limits.total) ? nil : .total
    }

    private static func fits(_ bytes: Int, beside held: Int?, _ limit: Int) -> Bool {
        guard let held, held > 0 else { return true }
        return bytes <= limit - held
    }

    private mutating func count(_ claim: Claim, by sign: Int) {
        let bytes = sign * claim.bytes
        total += bytes
        Self.add(bytes, to: &byConnection, claim.owner.connection)
        if let certificate = claim.owner.certificate { Self.add(bytes, to: &byCertificate, certificate) }
        if let user = claim.owner.user { Self.add(bytes, to: &byUser, user) }
    }

    private static func add<Key>(_ bytes: Int, to sums: inout [Key: Int], _ key: Key) {
        let sum = sums[key, default: 0] + bytes
        sums[key] = sum == 0 ? nil : sum
    }
}
