/// How many connections a process can accept with its file descriptors.
enum ConnectionBudget {
    /// Descriptors for other purposes: the store, logs, senders and receivers of events.
    static let reserved = 256
    /// The minimum number of connections of a listener; with fewer the process does not start.
    static let least = 64

    /// The descriptors for two listeners with `connections` each, and those for probes and administrators.
    static func descriptors(for connections: Int, probes: Int) -> Int {
        let (both, isTooMany) = connections.multipliedReportingOverflow(by: 2)
        let (sum, isMore) = both.addingReportingOverflow(reserved + probes)
        return isTooMany || isMore ? .max : sum
    }

    /// How many of the wanted connections each of the two listeners can accept; `nil` if the number is too small to
    /// start.
    static func connections(of wanted: Int, probes: Int, descriptors: Int) -> Int? {
        let affordable = (descriptors - min(descriptors, reserved + probes)) / 2
        guard affordable >= min(wanted, least) else { return nil }
        return min(wanted, affordable)
    }
}
