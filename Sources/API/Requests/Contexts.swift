import Domain
import Encoding
import Foundation
import Hummingbird
import NIOCore
import Operations

/// What a request on any listener brings along.
protocol ListenerContext: RequestContext {
    /// What the request came over: the connection, or a stream of HTTP/2.
    var channel: any Channel { get }
}

/// What a request on the public or the ops listener brings along.
package struct PublicContext: ListenerContext {
    package var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// The key under which the sender's address is limited.
    let addressKey: String

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
        addressKey = IPAddress.limitKey(
            IPAddress(CurrentConnection.peerAddress ?? source.channel.remoteAddress))
    }
}

/// What a request on the client listener brings along: the connection whose handshake proved the device's key.
package struct ClientContext: ListenerContext {
    package var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// The connection; `nil` only outside the mutual-TLS listener, where every request is refused.
    let current: ClientConnection?
    /// The key under which the sender's address is limited.
    let addressKey: String
    /// The session behind a protected request, once it is checked.
    var session: Session?
    /// The user whose export token was shown, where the path takes one.
    var exportUser: UserID?

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
        current = CurrentConnection.value
        addressKey = IPAddress.limitKey(
            IPAddress(CurrentConnection.peerAddress ?? source.channel.remoteAddress))
    }

    /// The connection, or a refusal.
    var connection: ClientConnection {
        get throws(Refusal) {
            guard let current else {
                throw Refusal(.certificateRevoked, "This listener needs a client certificate.")
            }
            return current
        }
    }

    /// The session, or a refusal.
    var checkedSession: Session {
        get throws(Refusal) {
            guard let session else { throw Refusal(.sessionRequired, "This action needs a session.") }
            return session
        }
    }
}
