import Domain
import HTTPTypes
import Hummingbird
import Logging
import Metrics
import NIOCore
import Operations

/// Answers requests on the event loop of their connection: what this process's memory alone decides, and only success.
///
/// Whatever is refused, asks the store, or writes, goes on to the routes, so that refusals, audit and challenge are in
/// one place. Both share what decides, the bodies, the measurements and the line of the log.
struct FastPath: Sendable {
    private let sessions: SessionRoutes
    private let authenticate: AuthenticateConnection
    private let face: ListenerFace
    private let session: RequestMeasurements.Instruments
    private let nonce: RequestMeasurements.Instruments
    private let answers = Counter(label: "fast_path_answers")
    let date: DateText

    init(_ sessions: SessionRoutes, authenticate: AuthenticateConnection, face: ListenerFace) {
        self.sessions = sessions
        self.authenticate = authenticate
        self.face = face
        func instruments(_ route: FastRequest.Route) -> RequestMeasurements.Instruments {
            face.instruments(route.method, route.template, route.status)
        }
        (session, nonce) = (instruments(.session), instruments(.nonce))
        date = DateText(now: sessions.now)
    }

    /// Writes the body of the answer; `false` where the routes are to answer.
    func write(_ request: FastRequest, on connection: ClientConnection, to body: inout ByteBuffer) -> Bool {
        guard authenticate.fromMemory(connection) else { return false }
        switch request {
        case .session(let tokenHash):
            guard let session = sessions.check.fromMemory(tokenHash, on: connection) else { return false }
            sessions.write(session, on: connection, to: &body)
        case .nonce: sessions.writeNonce(for: connection, to: &body)
        }
        return true
    }

    /// Counts an answer and writes its line of the log, as the routes do.
    func record(_ request: FastRequest, elapsed: Duration) {
        answers.increment()
        let route = request.route
        var logger = face.logger
        logger[metadataKey: "hb.request.id"] = .stringConvertible(RequestID())
        let outcome = ListenerFace.Outcome(
            method: route.method, route: route.template, status: route.status, elapsed: elapsed)
        switch request {
        case .session: face.record(outcome, session, logger)
        case .nonce: face.record(outcome, nonce, logger)
        }
    }
}
