import Herald
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// Sends calls over the current Herald connection, and opens a new one for another session or certificate.
actor HeraldLine {
    private struct Key: Hashable {
        let serial: String
        let token: String
    }

    private var key: Key?
    private var connection: Task<HeraldConnection, any Error>?
    /// The number of connections so far.
    private var count = 0
    /// When to try again after a server refused the session.
    private var retryAt = ContinuousClock.now
    private let place: HeraldConnection.Place

    init(_ place: HeraldConnection.Place) { self.place = place }

    /// Makes a call; `nil` if it cannot use Herald now. The JSON call returns the reason, if there is one.
    func send(_ call: HeraldCall, token: String, as identity: Identity, wait: Duration) async throws(Refusal) -> Answer?
    {
        guard let connection = await open(Key(serial: identity.serial, token: token), identity) else { return nil }
        let end = ContinuousClock.now + wait
        while true {
            let pushes = await connection.pushes
            let reply: ThriftMessage
            do {
                reply = try await connection.call(call)
            } catch HeraldConnection.Failure.refused {
                return nil
            } catch is CancellationError {
                throw .cancelled
            } catch {
                throw .unanswered("the connection broke")
            }
            guard let answer = try call.answer(reply) else { return nil }
            let rest = end - ContinuousClock.now
            guard call.waits, rest > .zero, !answer.hasChanges else { return answer }
            await Self.wait(rest) { await connection.push(after: pushes) }
            guard !Task.isCancelled else { throw .cancelled }
        }
    }

    /// The connection for a session and a certificate; `nil` if none can be opened.
    private func open(_ wanted: Key, _ identity: Identity) async -> HeraldConnection? {
        while let connection, key == wanted {
            let number = count
            let found = try? await connection.value
            let isUsable = await found?.isOver == false
            // Another call may have opened a new one meanwhile.
            guard number == count else { continue }
            if isUsable { return found }
            guard ContinuousClock.now >= retryAt else { return nil }
            break
        }
        let (before, place) = (connection, place)
        let task = Task { try await HeraldConnection.open(place.with(identity), token: wanted.token) }
        (key, connection) = (wanted, task)
        count &+= 1
        let number = count
        // A server without Herald is not tried before each call.
        retryAt = .now + .seconds(30)
        if let before { Task { try? await before.value.close() } }
        let opened = try? await task.value
        if opened != nil, number == count { retryAt = .now }
        return opened
    }

    func close() {
        guard let connection else { return }
        Task { try? await connection.value.close() }
    }

    /// Runs the body with a time limit.
    private static func wait(_ time: Duration, _ body: @escaping @Sendable () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask(operation: body)
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }
}

extension HeraldConnection {
    /// The address of the service's Herald listener, and the set-up of connections.
    struct Place: Sendable {
        let host: String
        let port: Int
        let tls: TLSConfiguration
        let localAddress: String?
        /// Refuses a server with an unpinned key, and counts the connection.
        let check: @Sendable (any Channel) -> EventLoopFuture<Void>

        func with(_ identity: Identity) -> Place {
            var tls = identity.tls
            tls.applicationProtocols = ["herald/1"]
            return Place(host: host, port: port, tls: tls, localAddress: localAddress, check: check)
        }

        /// - Throws: ``HeraldConnection/Failure`` `refused` if the server does not support Herald.
        func connect() async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
            let context = try NIOSSLContext(configuration: tls)
            let isName = (try? SocketAddress(ipAddress: host, port: port)) == nil
            var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connectTimeout(.seconds(5))
            if let localAddress { bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: localAddress, port: 0)) }
            let negotiated = try await bootstrap.connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let negotiation = NIOTypedApplicationProtocolNegotiationHandler<
                        NIOAsyncChannel<ByteBuffer, ByteBuffer>
                    > { result, channel in
                        guard result == .negotiated("herald/1") else {
                            return channel.close().flatMapThrowing { throw Failure.refused }
                        }
                        return check(channel).flatMapThrowing {
                            try NIOAsyncChannel(wrappingChannelSynchronously: channel)
                        }
                    }
                    try channel.pipeline.syncOperations.addHandlers([
                        NIOSSLClientHandler(context: context, serverHostname: isName ? host : nil), negotiation,
                    ])
                    return negotiation.protocolNegotiationResult
                }
            }
            return try await negotiated.get()
        }
    }
}
