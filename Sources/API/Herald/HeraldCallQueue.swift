import Herald

/// The calls of one connection. Calls of one channel run one after the other, those of several channels concurrently.
struct HeraldCallQueue {
    /// The most calls that run or wait. At this number reading stops.
    private static let maximum = 8

    /// A running call and the carrier of its answer.
    struct Running {
        let call: ChannelTable.Message
        let carrier: ResponseCarrier
    }

    private var waiting: [ChannelTable.Message] = []
    private var running: [UInt64: Running] = [:]

    var isEmpty: Bool { waiting.isEmpty && running.isEmpty }

    var isFull: Bool { waiting.count + running.count >= Self.maximum }

    mutating func add(_ call: ChannelTable.Message) { waiting.append(call) }

    /// Removes a finished call; returns its carrier.
    @discardableResult
    mutating func end(_ call: ChannelTable.Message) -> ResponseCarrier? {
        running.removeValue(forKey: call.instance)?.carrier
    }

    /// Discards the waiting calls of a channel, and stops what its running call waits for.
    mutating func drop(_ channel: UInt8) {
        waiting.removeAll { $0.channel == channel }
        for one in running.values where one.call.channel == channel { one.carrier.close() }
    }

    mutating func dropAll() {
        waiting = []
        for one in running.values { one.carrier.close() }
    }

    /// Starts and returns the calls that may run now.
    mutating func start(_ carrier: () -> ResponseCarrier) -> [Running] {
        guard !waiting.isEmpty else { return [] }
        var started: [Running] = []
        waiting.removeAll { call in
            guard running[call.instance] == nil else { return false }
            let one = Running(call: call, carrier: carrier())
            running[call.instance] = one
            started.append(one)
            return true
        }
        return started
    }
}
