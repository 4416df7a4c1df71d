import Domain
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes

/// An accepted connection without TLS, as HTTP/1.1: probes and Prometheus on loopback.
struct PlainListenerChannel: ServerChildChannel {
    typealias Value = HTTP1Connection.Value

    private let http1: HTTP1Connection
    private let gate: ListenerGate
    private let face: ListenerFace

    init(gate: ListenerGate, face: ListenerFace, responder: @escaping HTTPChannelHandler.Responder) {
        (self.gate, self.face) = (gate, face)
        http1 = HTTP1Connection(limits: gate.limits, face: face, fastPath: nil, responder: responder)
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        gate.open.insert(channel)
        // Probes are not limited by their address.
        let activity = gate.accepted.insert(channel, from: nil) ?? ConnectionActivity(alone: channel)
        return channel.eventLoop.makeCompletedFuture {
            // As in TLSListenerChannel: nothing is read before a task handles the connection.
            try channel.syncOptions?.setOption(.autoRead, value: false)
        }.flatMap {
            http1.setup(
                channel: channel, activity: activity,
                established: EstablishedConnection(requestIDs: face.newRequestIDs()), logger: logger)
        }
    }

    func handle(value: Value, logger: Logger) async {
        try? await value.channel.setOption(.autoRead, value: true).get()
        await CurrentConnection.$current.withValue(CurrentConnection(requestIDs: face.newRequestIDs())) {
            await http1.handle(value, logger: logger)
        }
    }
}
