import NIOCore
import Synchronization

/// Every connection of the listeners, in whatever state it is: a stop that takes too long ends them.
package final class OpenChannels: Sendable {
    private let open = Mutex<[ObjectIdentifier: any Channel]>([:])

    package init() {}

    package var count: Int { open.withLock { $0.count } }

    /// Closes all of them at once, even with unsent answers.
    package func closeAll() {
        let all = open.withLock { Array($0.values) }
        for channel in all { channel.close(promise: nil) }
    }

    func insert(_ channel: any Channel) {
        let key = ObjectIdentifier(channel)
        open.withLock { $0[key] = channel }
        channel.closeFuture.whenComplete { [self] _ in open.withLock { $0[key] = nil } }
    }
}
