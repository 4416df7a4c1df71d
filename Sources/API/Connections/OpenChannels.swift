import NIOCore
import Synchronization

/// All connections of the listeners in any state. A shutdown that takes too long closes them.
package final class OpenChannels: Sendable {
    private let open = Mutex<[ObjectIdentifier: any Channel]>([:])

    package init() {}

    package var count: Int { open.withLock { $0.count } }

    /// Closes all connections at once, even with unsent answers.
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
