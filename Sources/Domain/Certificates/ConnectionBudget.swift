/// How many connections a process can keep, by the file descriptors that the system gives it.
package enum ConnectionBudget {
    /// Descriptors that are no connection of a listener: the store's, logs, senders, receivers of events.
    package static let reserved = 256
    /// With fewer connections on a listener a start makes no sense.
    package static let least = 64

    /// The descriptors that two listeners with so many connections each, and one for probes, need.
    package static func descriptors(for connections: Int, probes: Int) -> Int {
        let (both, isTooMany) = connections.multipliedReportingOverflow(by: 2)
        let (sum, isMore) = both.addingReportingOverflow(reserved + probes)
        return isTooMany || isMore ? .max : sum
    }

    /// How many of the wanted connections each of the two listeners can have; `nil` if that is too few to start.
    package static func connections(of wanted: Int, probes: Int, descriptors: Int) -> Int? {
        let affordable = (descriptors - min(descriptors, reserved + probes)) / 2
        guard affordable >= min(wanted, least) else { return nil }
        return min(wanted, affordable)
    }
}
