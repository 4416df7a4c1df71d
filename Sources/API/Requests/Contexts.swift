import Domain
import Encoding
import Foundation
import Hummingbird
import Logging
import NIOCore
import Operations

/// The context of a request on any listener.
protocol ListenerContext: RequestContext {
    /// The channel of the request: the connection, or an HTTP/2 stream.
    var channel: any Channel { get }
    /// What carries the response; `nil` only where no listener carries one.
    var carriedBy: ResponseCarrier? { get }
    /// What a call of its route costs; as much as any, until a route says it.
    var cost: CallCost { get set }
    /// The other end of the connection, for which calls are counted.
    var peer: CountedCaller? { get }
    /// The user whom the call acts for, after that was checked.
    var user: UserID? { get }
}

extension ListenerContext {
    /// What carries the response. A request without one makes no large response, and waits for nothing: a new protocol
    /// has to say what carries its responses.
    var carrier: ResponseCarrier {
        get throws {
            guard let carriedBy else { throw NotCarried() }
            return carriedBy
        }
    }
}

/// Nothing carries the response of a request.
struct NotCarried: Error {}

extension ApplicationRequestContextSource {
    /// The same with an id of the connection's, which every listener sets. The library's own ids count the requests of
    /// the whole process (Upstream.md).
    fileprivate var withOwnID: ApplicationRequestContextSource {
        var logger = logger
        logger[metadataKey: RequestIDs.key] = .string((CurrentConnection.requestIDs ?? .ofNoConnection).next())
        return ApplicationRequestContextSource(channel: channel, logger: logger)
    }
}

/// The context of a request on the public or the ops listener.
package struct PublicContext: ListenerContext {
    package var coreContext: CoreRequestContextStorage
    let channel: any Channel
    let carriedBy: ResponseCarrier?
    /// The limits' key for the sender's address.
    let addressKey: String
    var cost = CallCost.heavy

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source.withOwnID)
        (channel, carriedBy) = (source.channel, ResponseCarrier.current)
        addressKey = IPAddress.limitKey(
            IPAddress(CurrentConnection.peerAddress ?? source.channel.remoteAddress))
    }

    var peer: CountedCaller? { .address(addressKey) }
    var user: UserID? { nil }
}

/// The context of a request on the client listener, with the connection whose handshake proved the device's key.
package struct ClientContext: ListenerContext {
    package var coreContext: CoreRequestContextStorage
    let channel: any Channel
    let carriedBy: ResponseCarrier?
    /// The connection; `nil` only outside the mutual-TLS listener, where every request is refused.
    let current: ClientConnection?
    /// The limits' key for the sender's address.
    let addressKey: String
    /// The session of a protected request, after it was checked.
    var session: Session?
    /// The user of the export token, on paths that accept one.
    var exportUser: UserID?
    var cost = CallCost.heavy

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source.withOwnID)
        (channel, carriedBy) = (source.channel, ResponseCarrier.current)
        current = CurrentConnection.value
        carriedBy?.identify(current?.thumbprint)
        addressKey = IPAddress.limitKey(
            IPAddress(CurrentConnection.peerAddress ?? source.channel.remoteAddress))
    }

    var peer: CountedCaller? { current.map { .certificate($0.thumbprint) } }
    var user: UserID? { session?.userID ?? exportUser }

    /// The connection; without one a refusal is thrown.
    var connection: ClientConnection {
        get throws(Refusal) {
            guard let current else {
                throw Refusal(.certificateRevoked, "This listener needs a client certificate.")
            }
            return current
        }
    }

    /// The session; without one a refusal is thrown.
    var checkedSession: Session {
        get throws(Refusal) {
            guard let session else { throw Refusal(.sessionRequired, "This action needs a session.") }
            return session
        }
    }
}
