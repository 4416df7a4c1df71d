/// What goes on on a connection, for whoever needs its place. Times are nanoseconds of a monotonic clock.
package enum PeerActivity: Sendable, Equatable {
    /// The handshake is not complete.
    case handshaking(since: UInt64)
    /// There is no request.
    case idle(since: UInt64)
    /// There are requests, and the service waits for their peer: for the rest of a body, or until an answer is taken.
    case waiting(since: UInt64)
    /// The service is at work on a request.
    case busy

    /// Who keeps the service waiting for longer may be closed for another: in a handshake before anybody else, in a
    /// request like somebody who is idle.
    package static let patience: UInt64 = 2_000_000_000

    /// The order in which connections are closed, lowest first; `nil` if one must stay open.
    package func rank(at now: UInt64) -> UInt64? {
        switch self {
        case .busy: nil
        case .idle(let since): since | 1 << 63
        case .waiting(let since): Self.isLong(since, now) ? since | 1 << 63 : nil
        case .handshaking(let since): Self.isLong(since, now) ? since & ~(1 << 63) : nil
        }
    }

    private static func isLong(_ since: UInt64, _ now: UInt64) -> Bool { now >= since && now - since >= patience }

    /// All of it in one word, which one thread may write and others read: the time without its last two bits, and
    /// the kind.
    package var word: UInt64 {
        switch self {
        case .busy: 0
        case .handshaking(let since): since & ~3 | 1
        case .idle(let since): since & ~3 | 2
        case .waiting(let since): since & ~3 | 3
        }
    }

    package init(word: UInt64) {
        switch word & 3 {
        case 1: self = .handshaking(since: word & ~3)
        case 2: self = .idle(since: word & ~3)
        case 3: self = .waiting(since: word & ~3)
        default: self = .busy
        }
    }
}

/// Whose turn it is on a connection that carries requests, and how its peer gets on.
///
/// From the end of a request to the end of its answer it is the service's turn. Before that the peer is to send the
/// rest of the request, and after it to take the answer. Bytes that come or are taken are progress at a pace: each
/// 4 KiB make up for a second. One byte now and then is none.
package struct RequestProgress: Sendable {
    /// Bytes in a second.
    package static let pace = 4096

    private var requests = 0
    /// Of the requests, those for which it is the service's turn.
    private var worked = 0
    private var since: UInt64

    package init(at now: UInt64) {
        since = now
    }

    package var activity: PeerActivity {
        if requests == 0 { return .idle(since: since) }
        return worked == 0 ? .waiting(since: since) : .busy
    }

    /// A request comes: it is the peer's turn.
    package mutating func begin(at now: UInt64) {
        if requests == 0 { since = now }
        requests += 1
    }

    /// A request's answer was taken, or nobody wants it any more.
    package mutating func end(at now: UInt64) {
        requests = max(0, requests - 1)
        if requests == 0 { since = now }
    }

    /// It is the service's turn for one request.
    package mutating func work() { worked += 1 }

    /// It is the peer's turn again for one that was the service's.
    package mutating func wait(at now: UInt64) {
        worked = max(0, worked - 1)
        if worked == 0 { since = now }
    }

    /// Bytes came or were taken.
    package mutating func move(_ bytes: Int, at now: UInt64) {
        guard requests > 0 else { return }
        let (time, isTooLong) = UInt64(max(0, bytes)).multipliedReportingOverflow(by: 1_000_000_000 / UInt64(Self.pace))
        let (later, isLate) = since.addingReportingOverflow(time)
        since = isTooLong || isLate ? now : max(since, min(now, later))
    }
}
