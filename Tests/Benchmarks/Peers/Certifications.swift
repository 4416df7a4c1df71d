import Encoding
import Fixtures
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// From a request for a certificate to the certificate, at CFSSL and at the service, and the handshake in it alone.
extension Peers {
    private enum Way: CaseIterable {
        case certificate
        case handshake

        /// Its name in the summary.
        var figure: String {
            switch self {
            case .certificate: "a certificate, CPU µs"
            case .handshake: "the handshake before a certificate, CPU µs"
            }
        }
    }

    private static let lanes = 16

    /// Certificates for P-256 keys, in turns. Both servers have one authority, one certificate and key, and TLS 1.3 without
    /// a client's certificate. Each request has a connection of its own, since the service closes it: the device comes
    /// back over mutual TLS. CFSSL keeps nothing of what it issues.
    func certifications(_ own: MeasuredServer, _ cfssl: MeasuredServer) async throws {
        report.section(
            "A certificate for a P-256 key, TLS 1.3 with the same certificate and key",
            ["what", "server", "CPU µs", "÷ cfssl", "per second"])
        let servers = [cfssl, own]
        // The first requests of a process take longer.
        for server in servers { _ = try await measure(.certificate, 2 * Self.lanes, at: server) }
        var loads: [Way: [[Load]]] = [:]
        for round in 0..<rounds {
            for way in Way.allCases {
                for (index, server) in servers.enumerated() {
                    let load = try await measure(way, quick ? 64 : 960, at: server)
                    loads[way, default: [[], []]][index].append(load)
                    report.keep(Round(way.figure, server.name, round, load))
                }
            }
        }
        guard let certificates = loads[.certificate]?.map(\.median), let handshakes = loads[.handshake]?.map(\.median)
        else { return }
        show("a certificate, with a handshake each", Way.certificate.figure, servers, certificates)
        show("a handshake alone", Way.handshake.figure, servers, handshakes)
        let rest = zip(certificates, handshakes).map { $0.microseconds - $1.microseconds }
        for (server, time) in zip(servers, rest) {
            row("the difference: reading, signing, and what is kept", server, time, rest[0], "")
        }
        summarize("a certificate without its handshake, CPU µs", servers, rest)
    }

    private func show(_ what: String, _ figure: String, _ servers: [MeasuredServer], _ loads: [Load]) {
        for (server, load) in zip(servers, loads) {
            row(what, server, load.microseconds, loads[0].microseconds, load.perSecond.places(0))
        }
        summarize(figure, servers, loads.map(\.microseconds))
    }

    private func row(_ what: String, _ server: MeasuredServer, _ time: Double, _ other: Double, _ rate: String) {
        report.row(what, server.name, time.places(0), (time / other).places(2), rate)
    }

    private func measure(_ way: Way, _ count: Int, at server: MeasuredServer) async throws -> Load {
        let requests: [ByteBuffer?] =
            switch way {
            case .handshake: [ByteBuffer?](repeating: nil, count: count)
            case .certificate:
                try (0..<count).map { _ in
                    let csr = try TestAuthority.certificationRequest(commonName: UUID().uuidString.lowercased())
                    return server.isOwn ? Self.request(csr) : Self.requestOfCFSSL(csr)
                }
            }
        let tls = try Fleet.context(authority: service.path("Keys/ca.pem").path)
        let (group, port) = (group, server.openPort)
        let processes = server.process.family
        let before = processes.map(\.processorSeconds).reduce(0, +)
        let start = ContinuousClock.now
        let answers = try await withThrowingTaskGroup(of: [Answer].self) { tasks in
            for lane in 0..<Self.lanes {
                tasks.addTask {
                    var answers: [Answer] = []
                    for index in stride(from: lane, to: count, by: Self.lanes) {
                        if let request = requests[index] {
                            let connection = try await LoadConnection.open(port: port, tls: tls, on: group.next())
                            answers += try await connection.run([request])
                            await connection.close()
                        } else {
                            answers.append(try await HandshakeAlone.make(port: port, tls: tls, on: group.next()))
                        }
                    }
                    return answers
                }
            }
            return try await tasks.reduce(into: [[Answer]]()) { $0.append($1) }
        }
        let used = processes.map(\.processorSeconds).reduce(0, +) - before
        let status = way == .handshake ? HandshakeAlone.status : server.isOwn ? 201 : 200
        return try Load(answers, since: start, processorSeconds: used, expecting: status)
    }

    private static func request(_ csr: String) -> ByteBuffer {
        let body = JSONValue.object([JSONMember(name: "csr", value: .string(csr))])
        return RequestBytes.make("POST", "/certificates", body: body.jsonText)
    }

    private static func requestOfCFSSL(_ csr: String) -> ByteBuffer {
        let body = JSONValue.object([
            JSONMember(name: "hosts", value: .array([.string("device")])),
            JSONMember(name: "certificate_request", value: .string(csr)),
        ])
        return RequestBytes.make("POST", "/api/v1/cfssl/sign", body: body.jsonText)
    }
}

/// A connection without a request, which its client closes in order after the handshake.
private final class HandshakeAlone: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    /// In place of that of an answer.
    static let status = 0

    private let done: EventLoopPromise<Void>

    private init(_ done: EventLoopPromise<Void>) {
        self.done = done
    }

    static func make(port: Int, tls: NIOSSLContext, on loop: any EventLoop) async throws -> Answer {
        let began = NIODeadline.now()
        let done = loop.makePromise(of: Void.self)
        let channel: any Channel
        do {
            channel = try await ClientBootstrap(group: loop)
                .channelOption(.socketOption(.tcp_nodelay), value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let operations = channel.pipeline.syncOperations
                        try operations.addHandler(NIOSSLClientHandler(context: tls, serverHostname: "localhost"))
                        try operations.addHandler(HandshakeAlone(done))
                    }
                }
                .connect(host: "127.0.0.1", port: port).get()
        } catch {
            done.fail(error)
            throw error
        }
        try await done.futureResult.get()
        let elapsed = (NIODeadline.now() - began).nanoseconds
        try? await channel.close().get()
        return Answer(status: status, body: ByteBuffer(), entityTag: nil, nanoseconds: elapsed)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? TLSUserEvent, case .handshakeCompleted = event { done.succeed() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        done.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        done.fail(ChannelError.eof)
        context.fireChannelInactive()
    }
}
