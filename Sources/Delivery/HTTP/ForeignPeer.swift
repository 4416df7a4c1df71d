import AsyncHTTPClient
import Encoding
import NIOCore

/// The address at the other end of a connection is not one that the service may connect to.
struct ForeignPeer: Error {}

extension HTTPClient.Configuration {
    /// Looks at the other end of each connection before a request goes over it.
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
