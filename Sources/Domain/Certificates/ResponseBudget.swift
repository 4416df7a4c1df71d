import Encoding

/// Shares the memory for responses that clients have not read: by connection, by certificate, by user and in all.
///
/// Whoever makes a large response claims its bytes first. One of a connection that holds others waits for its turn, in
/// the order of arrival; it counts for nobody until then. The other limits refuse. A claim always fits where there is
/// no other, so that no response is too large for ever.
package struct ResponseBudget<Connection: Hashable & Sendable>: Sendable {
    package typealias ClaimID = UInt64

    /// Bytes that may be claimed at the same time.
    package struct Limits: Sendable, Equatable {
        package let connection: Int
        package let certificate: Int
        package let user: Int
        package let total: Int

        package init(connection: Int, certificate: Int, user: Int, total: Int) {
            (self.connection, self.certificate, self.user, self.total) = (connection, certificate, user, total)
        }
    }

    /// Whose response it is; nobody's certificate or user on a listener that asks for none.
    package struct Owner: Sendable, Equatable {
        package let connection: Connection
        package let certificate: Digest256?
        package let user: UserID?

        package init(connection: Connection, certificate: Digest256?, user: UserID?) {
            (self.connection, self.certificate, self.user) = (connection, certificate, user)
        }
    }

    package enum Level: String, Sendable, CaseIterable { case certificate, user, total }

    package enum Verdict: Sendable, Equatable {
        case granted
        /// For its turn on its connection.
        case waits
        /// The claim is gone.
        case refused(Level)
    }

    /// What became of a claim that waited.
    package struct Decision: Sendable, Equatable {
        package let id: ClaimID
        package let verdict: Verdict
    }

    private struct Claim {
        let owner: Owner
        var bytes: Int
        var isGranted = false
    }

    private let limits: Limits
    private var claims: [ClaimID: Claim] = [:]
    /// The claims that wait for their turn, by connection, the next one first.
    private var lines: [Connection: [ClaimID]] = [:]
    private var byConnection: [Connection: Int] = [:]
    private var byCertificate: [Digest256: Int] = [:]
    private var byUser: [UserID: Int] = [:]
    private var last: ClaimID = 0
    /// Bytes of all claims that were granted.
    package private(set) var total = 0

    package init(limits: Limits) { self.limits = limits }

    /// Claims that wait for their turn.
    package var waiting: Int { lines.values.reduce(0) { $0 + $1.count } }

    /// Claims bytes before they are made.
    package mutating func claim(_ bytes: Int, for owner: Owner) -> (id: ClaimID, verdict: Verdict) {
        last &+= 1
        claims[last] = Claim(owner: owner, bytes: max(0, bytes))
        guard lines[owner.connection] == nil, hasTurn(last) else {
            lines[owner.connection, default: []].append(last)
            return (last, .waits)
        }
        return (last, decide(last))
    }

    /// A response turned out to have so many bytes.
    ///
    /// - Returns: what became of those that waited for it.
    package mutating func settle(_ id: ClaimID, at bytes: Int) -> [Decision] {
        guard var claim = claims[id], claim.isGranted else { return [] }
        count(claim, by: -1)
        claim.bytes = max(0, bytes)
        claims[id] = claim
        count(claim, by: 1)
        return advance(claim.owner.connection)
    }

    /// A response was read, or nobody wants it any more. A claim ends once.
    ///
    /// - Returns: what became of those that waited for it.
    package mutating func end(_ id: ClaimID) -> [Decision] {
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
