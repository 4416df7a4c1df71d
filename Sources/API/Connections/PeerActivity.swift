/// What happens on a connection, which decides whether it may be closed to make room. Times are nanoseconds of a
/// monotonic clock.
enum PeerActivity: Sendable, Equatable {
    /// The TLS handshake is not complete.
    case handshaking(since: UInt64)
    /// No request is in progress.
    case idle(since: UInt64)
    /// Requests are in progress, and the service waits for the peer: for the rest of a body, or until a response is
    /// read.
    case waiting(since: UInt64)
    /// The service processes a request.
    case busy

    /// A connection whose peer takes longer may be closed to make room. Handshakes are closed before all others.
    /// Requests are treated like idle connections.
    static let patience: UInt64 = 2_000_000_000
}

extension PeerActivity {
    /// The order in which connections are closed, lowest first; `nil` if one must stay open.
    func rank(at now: UInt64) -> UInt64? {
        switch self {
        case .busy: nil
        case .idle(let since): since | 1 << 63
        case .waiting(let since): Self.isLong(since, now) ? since | 1 << 63 : nil
        case .handshaking(let since): Self.isLong(since, now) ? since & ~(1 << 63) : nil
        }
    }

    private static func isLong(_ since: UInt64, _ now: UInt64) -> Bool { now >= since && now - since >= patience }

    /// The value in one word for atomic access: the time without its last two bits, and the kind.
    var word: UInt64 {
        switch self {
        case .busy: 0
        case .handshaking(let since): since & ~3 | 1
        case .idle(let since): since & ~3 | 2
        case .waiting(let since): since & ~3 | 3
        }
    }

    init(word: UInt64) {
        switch word & 3 {
        case 1: self = .handshaking(since: word & ~3)
        case 2: self = .idle(since: word & ~3)
        case 3: self = .waiting(since: word & ~3)
        default: self = .busy
        }
    }
}

/// Whether the service waits for the peer of a connection, and since when.
///
/// The service works from the end of a request to the end of its response. Before that the peer must send the rest of
/// the request, and after it the peer must read the response. Each 4 KiB sent or read adds a second to the peer's time,
/// so single bytes now and then are not progress.
struct RequestProgress: Sendable {
    private var requests = 0
    /// The requests that the service processes.
    private var worked = 0
    private var since: UInt64
}

extension RequestProgress {
    /// The expected progress in bytes per second.
    static let pace = 4096

    init(at now: UInt64) {
        since = now
    }

    var activity: PeerActivity {
        if requests == 0 { return .idle(since: since) }
        return worked == 0 ? .waiting(since: since) : .busy
    }

    /// A request begins; the service waits for its rest.
    mutating func begin(at now: UInt64) {
        if requests == 0 { since = now }
        requests += 1
    }

    /// A request ends: its response was read, or the request was cancelled.
    mutating func end(at now: UInt64) {
        requests = max(0, requests - 1)
        if requests == 0 { since = now }
    }

    /// The service begins to process a request.
    mutating func work() { worked += 1 }

    /// The service has processed a request and waits until its response is read.
    mutating func wait(at now: UInt64) {
        worked = max(0, worked - 1)
        if worked == 0 { since = now }
    }

    /// The peer sent or read some bytes.
    mutating func move(_ bytes: Int, at now: UInt64) {
        guard requests > 0 else { return }
        let (time, isTooLong) = UInt64(max(0, bytes)).multipliedReportingOverflow(by: 1_000_000_000 / UInt64(Self.pace))
        let (later, isLate) = since.addingReportingOverflow(time)
        since = isTooLong || isLate ? now : max(since, min(now, later))
    }
}
