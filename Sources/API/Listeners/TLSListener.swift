import Domain
import Encoding
import Foundation
import HummingbirdCore
import Logging
import NIOCore
import NIOExtras
import NIOHTTP2
import NIOHTTPTypes
import NIOSSL
import NIOTLS
import Operations

/// An accepted TLS connection as HTTP/1.1, HTTP/2 or Herald, as the handshake chose.
///
/// It is composed of the HTTP library's channels. So the peer's certificate is read once a connection on its event
/// loop, and requests need not wait for it. It and its parts are references, since a connection's task keeps a copy of
/// its arguments as long as it runs.
final class TLSListenerChannel: ServerChildChannel {
    /// The protocol that the handshake chose.
    indirect enum Negotiated: Sendable {
        case http1(HTTP1Connection.Value)
        case http2(HTTP2Connection.Value)
        case herald(HeraldConnection, HeraldConnection.Value)
    }

    struct Value: ServerChildChannelValue {
        /// The end of the handshake. It is one future, since each that a task waits for takes a turn of the event loop
        /// and a wake-up of a thread.
        let opened: EventLoopFuture<(Negotiated, Peer)>
        let channel: any Channel
        let established: EstablishedConnection
    }

    /// The treatment of clients with a certificate.
    struct Clients: Sendable {
        /// Verifies the client's chain, since the TLS library does not.
        let verifyChain: @Sendable ([[UInt8]]) -> Bool
        /// Admits a connection at the end of its handshake, if memory alone suffices to decide.
        let admit: @Sendable (ClientConnection) -> Void
        /// Called for each connection before its first request that needs more than memory.
        let onConnect: @Sendable (ClientConnection) async -> Void
        let connections: ConnectionTable
        /// `nil` on a listener that speaks HTTP only.
        let herald: HeraldConnection?
    }

    let tls: ListenerTLS
    /// `nil` if clients need no certificate.
    let clients: Clients?
    let gate: ListenerGate
    private let face: ListenerFace
    private let http1: HTTP1Connection
    private let http2: HTTP2Connection

    init(
        tls: ListenerTLS, clients: Clients?, gate: ListenerGate, maximumStreams: Int, face: ListenerFace,
        fastPath: FastPath? = nil, responder: @escaping HTTPChannelHandler.Responder
    ) {
        self.tls = tls
        self.clients = clients
        self.gate = gate
        self.face = face
        let limits = gate.limits
        http1 = HTTP1Connection(limits: limits, face: face, fastPath: fastPath, responder: responder)
        http2 = HTTP2Connection(
            http1: HTTP1Channel(
                responder: responder, configuration: HTTP1Connection.configuration(limits, face, isStream: true)),
            limits: limits, maximumStreams: maximumStreams, fastPath: fastPath, accounts: face.accounts)
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        gate.open.insert(channel)
        let peer = channel.eventLoop.makePromise(of: Peer.self)
        let address = IPAddress(channel.remoteAddress)
        let isProxied =
            address.map { address in gate.limits.proxiedNetworks.contains { $0.contains(address) } } ?? false
        // The address of a proxy is not the client's.
        guard let activity = gate.accepted.insert(channel, from: isProxied ? nil : IPAddress.limitKey(address)) else {
            channel.close(promise: nil)
            peer.fail(ChannelError.eof)
            return channel.eventLoop.makeSucceededFuture(
                Value(
                    opened: channel.eventLoop.makeFailedFuture(ChannelError.eof), channel: channel,
                    established: EstablishedConnection(requestIDs: face.newRequestIDs())))
        }
        let established = EstablishedConnection(requestIDs: face.newRequestIDs())
        return channel.eventLoop.makeCompletedFuture { [self] in
            // At once, so that a request that arrives with the end of the handshake need not wait for a task.
            peer.futureResult.assumeIsolated().whenSuccess { [self] in
                establish($0, channel, established)
            }
            // Nothing is read before a task handles the connection. One that is accepted while the listener closes has
            // no task, and must not be able to send a request.
            try channel.syncOptions?.setOption(.autoRead, value: false)
            let operations = channel.pipeline.syncOperations
            if isProxied { try operations.addHandler(ProxyHeaderHandler(handshakes: gate.handshakes)) }
            try operations.addHandlers([
                ClearTextHandler(handshakes: gate.handshakes, face: face),
                tls.makeHandler(verifyChain: clients?.verifyChain),
                HandshakeHandler(
                    timeout: .milliseconds(Int64(gate.limits.handshakeTimeout * 1000)),
                    wantsCertificate: clients != nil, peer: peer, accepted: gate.accepted, handshakes: gate.handshakes),
            ])
            let negotiation = NIOTypedApplicationProtocolNegotiationHandler<Negotiated> { [self] result, channel in
                speak(result, on: channel, activity: activity, established: established, logger: logger)
            }
            try operations.addHandler(negotiation)
            return Value(
                opened: negotiation.protocolNegotiationResult.and(peer.futureResult), channel: channel,
                established: established)
        }
    }

    private func establish(_ peer: Peer, _ channel: any Channel, _ established: EstablishedConnection) {
        guard let clients, let thumbprint = peer.thumbprint else { return }
        let address = IPAddress.limitKey(IPAddress(peer.address))
        let connection = ClientConnection(id: face.newConnectionID(), thumbprint: thumbprint, from: address) {
            channel.close(promise: nil)
        }
        clients.connections.insert(connection)
        clients.admit(connection)
        established.establish(connection)
    }

    /// Sets up the protocol that the handshake chose. If the listener stopped meanwhile, the connection is notified
    /// now.
    private func speak(
        _ result: ALPNResult, on channel: any Channel, activity: ConnectionActivity,
        established: EstablishedConnection, logger: Logger
    ) -> EventLoopFuture<Negotiated> {
        let negotiated: EventLoopFuture<Negotiated>
        switch result {
        case .negotiated("h2"):
            negotiated = channel.eventLoop.makeCompletedFuture { [http2] in
                .http2(
                    try http2.setup(channel: channel, activity: activity, established: established, logger: logger))
            }
        case .negotiated(HeraldConnection.name):
            guard let herald = clients?.herald else { return refuse(channel) }
            negotiated = channel.eventLoop.makeCompletedFuture {
                .herald(herald, try herald.setup(channel: channel, activity: activity))
            }
        // A client that named only unknown protocols looks like one that named none (Upstream.md).
        case .negotiated("http/1.1"), .fallback:
            negotiated = http1.setup(channel: channel, activity: activity, established: established, logger: logger)
                .map { .http1($0) }
        case .negotiated: return refuse(channel)
        }
        return negotiated.map { value in
            let handshake = try? channel.pipeline.syncOperations.handler(type: HandshakeHandler.self)
            if handshake?.isStopping == true {
                channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            }
            return value
        }
    }

    private func refuse(_ channel: any Channel) -> EventLoopFuture<Negotiated> {
        channel.close().flatMap { channel.eventLoop.makeFailedFuture(ChannelError.eof) }
    }

    func handle(value: Value, logger: Logger) async {
        defer { if let connection = value.established.value { clients?.connections.remove(connection) } }
        do {
            // A channel that refuses it is closed, and then its handshake fails.
            _ = value.channel.setOption(.autoRead, value: true)
            let (protocolChannel, peer) = try await value.opened.get()
            let connection = value.established.value
            if let connection, let clients {
                // A separate task: this one would keep the memory of everything it calls.
                async let admission: Void = clients.onConnect(connection)
                await admission
            }
            if case .http1(let channel) = protocolChannel { await channel.waitForRoutes() }
            let current = CurrentConnection(
                value: connection, peerAddress: peer.address, requestIDs: value.established.requestIDs)
            await CurrentConnection.$current.withValue(current) {
                switch protocolChannel {
                case .http1(let channel): await http1.handle(channel, logger: logger)
                case .http2(let streams): await http2.handle(streams, logger: logger)
                case .herald(let herald, let frames):
                    if let connection { await herald.handle(frames, on: connection, logger: logger) }
                }
            }
        } catch {
            logger.debug(
                "a connection ended before its first request", metadata: ["cause": .string(ErrorWords.of(error))])
        }
    }
}
