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
    /// The carrier of the response; `nil` only if no listener received the request.
    var carriedBy: ResponseCarrier? { get }
    /// The cost of the call; the highest until its route sets it.
    var cost: CallCost { get set }
    /// The peer of the connection, against whose limits calls are counted.
    var peer: CountedCaller? { get }
    /// The user of the call's session, after the session was checked.
    var user: UserID? { get }
    /// The device of the connection's certificate.
    var device: DeviceID? { get }
}

extension ListenerContext {
    /// Whom the request concerns, as far as that is known.
    var parties: RequestParties {
        var parties = carriedBy?.parties ?? RequestParties()
        parties.device = parties.device ?? device
        return parties
    }

    /// The carrier of the response. It is required for large responses and for waiting, so a new protocol has to
    /// provide one.
    var carrier: ResponseCarrier {
        get throws {
            guard let carriedBy else { throw NotCarried() }
            return carriedBy
        }
    }
}

/// No listener received the request, so nothing carries its response.
struct NotCarried: Error {}

extension ApplicationRequestContextSource {
    /// The source with an id of the connection, which every listener provides. The library's own ids number the
    /// requests of the whole process (Upstream.md).
    fileprivate var withOwnID: ApplicationRequestContextSource {
        var logger = logger
        logger[metadataKey: RequestIDs.key] = .string((CurrentConnection.current.requestIDs ?? .ofNoConnection).next())
        return ApplicationRequestContextSource(channel: channel, logger: logger)
    }
}

/// The context of a request on the public or the ops listener.
struct PublicContext: ListenerContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    let carriedBy: ResponseCarrier?
    /// The sender's address as the key for limits.
    let addressKey: String
    var cost = CallCost.heavy

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source.withOwnID)
        (channel, carriedBy) = (source.channel, ResponseCarrier.current)
        addressKey = IPAddress.limitKey(
            IPAddress(CurrentConnection.current.peerAddress ?? source.channel.remoteAddress))
        carriedBy?.identify(nil, at: addressKey)
    }

    var peer: CountedCaller? { .address(addressKey) }
    var user: UserID? { nil }
    var device: DeviceID? { nil }
}

/// The context of a request on the client listener, with the connection whose handshake proved the device's key.
struct ClientContext: ListenerContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    let carriedBy: ResponseCarrier?
    /// The connection; `nil` only outside the mutual-TLS listener. Every such request is refused.
    let current: ClientConnection?
    /// The sender's address as the key for limits.
    let addressKey: String
    /// The session of a protected request, after it was checked.
    var session: Session?
    /// The user of the export token, on paths that accept one.
    var exportUser: UserID?
    var cost = CallCost.heavy

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source.withOwnID)
        (channel, carriedBy) = (source.channel, ResponseCarrier.current)
        current = CurrentConnection.current.value
        addressKey = IPAddress.limitKey(
            IPAddress(CurrentConnection.current.peerAddress ?? source.channel.remoteAddress))
        carriedBy?.identify(current?.thumbprint, at: addressKey)
    }

    var peer: CountedCaller? { current.map { .certificate($0.thumbprint) } }
    var user: UserID? { session?.userID ?? exportUser }
    var device: DeviceID? { current?.deviceID }

    /// The connection. Throws a refusal if there is none.
    var connection: ClientConnection {
        get throws(Refusal) {
            guard let current else {
                throw Refusal.clientCertificateRequired
            }
            return current
        }
    }

    /// The session. Throws a refusal if there is none.
    var checkedSession: Session {
        get throws(Refusal) {
            guard let session else { throw Refusal.sessionRequired }
            return session
        }
    }
}
