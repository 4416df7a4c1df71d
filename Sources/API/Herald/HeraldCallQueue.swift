import Herald

/// The calls of one connection: those of one channel run one after the other, those of several at once.
struct HeraldCallQueue {
    /// Calls that run or wait. Beyond them nothing more is read.
    private static let maximum = 8

    private var waiting: [ChannelTable.Message] = []
    /// The channels that have one that runs.
    private var running: Set<UInt64> = []

    var isEmpty: Bool { waiting.isEmpty && running.isEmpty }

    var isFull: Bool { waiting.count + running.count >= Self.maximum }

    mutating func add(_ call: ChannelTable.Message) { waiting.append(call) }

    mutating func end(_ call: ChannelTable.Message) { running.remove(call.instance) }

    mutating func drop(_ channel: UInt8) { waiting.removeAll { $0.channel == channel } }

    mutating func dropAll() { waiting = [] }

    /// The calls that may run now; they count as running.
    mutating func start() -> [ChannelTable.Message] {
        guard !waiting.isEmpty else { return [] }
        var started: [ChannelTable.Message] = []
        waiting.removeAll { call in
            guard running.insert(call.instance).inserted else { return false }
            started.append(call)
            return true
        }
        return started
    }
}
