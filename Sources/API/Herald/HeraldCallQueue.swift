import Herald

/// The calls of one connection: those of one channel run one after the other, those of several at once.
struct HeraldCallQueue {
    /// Calls that run or wait. Beyond them nothing more is read.
    private static let maximum = 8

    /// A call that runs, and what carries its answer.
    struct Running {
        let call: ChannelTable.Message
        let carrier: ResponseCarrier
    }

    private var waiting: [ChannelTable.Message] = []
    /// The call that runs on each channel that has one.
    private var running: [UInt64: Running] = [:]

    var isEmpty: Bool { waiting.isEmpty && running.isEmpty }

    var isFull: Bool { waiting.count + running.count >= Self.maximum }

    mutating func add(_ call: ChannelTable.Message) { waiting.append(call) }

    /// A call was carried out; what carried it.
    @discardableResult
    mutating func end(_ call: ChannelTable.Message) -> ResponseCarrier? {
        running.removeValue(forKey: call.instance)?.carrier
    }

    /// Nobody waits for the calls of a channel any more: none begins, and one that runs waits for nothing.
    mutating func drop(_ channel: UInt8) {
        waiting.removeAll { $0.channel == channel }
        for one in running.values where one.call.channel == channel { one.carrier.close() }
    }

    mutating func dropAll() {
        waiting = []
        for one in running.values { one.carrier.close() }
    }

    /// The calls that may run now; they count as running.
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
