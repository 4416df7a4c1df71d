import AsyncHTTPClient
import Encoding
import NIOCore

/// The service may not connect to the address of this peer.
struct ForeignPeer: Error {}

extension HTTPClient.Configuration {
    /// Checks the peer of each connection before a request is sent over it.
    mutating func requirePeer(_ permits: @escaping @Sendable (IPAddress) -> Bool) {
        let verify: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in
            if let peer = channel.remoteAddress?.ipAddress.flatMap({ IPAddress($0) }), permits(peer) {
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(ForeignPeer())
        }
        http1_1ConnectionDebugInitializer = verify
        http2ConnectionDebugInitializer = verify
    }
}
