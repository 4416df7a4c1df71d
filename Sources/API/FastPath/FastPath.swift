import Domain
import Foundation
import HTTPTypes
import Hummingbird
import Metrics
import NIOCore
import Operations

/// Answers requests on the event loop of their connection: what this process's memory alone decides, and only success.
///
/// Whatever is refused, asks the store, or writes, goes on to the routes, so that refusals, audit and challenge are in
/// one place. Both share what decides, the bodies, the measurements and the line of the log.
///
/// The cost of a call is not counted here, whatever its route says: what memory alone answers is free.
final class FastPath: Sendable {
    /// Who asks, as one object: copies of what lies in it would count dozens of references up and down for each request,
    /// on all event loops at once.
    private enum Asker {
        case devices(Devices)
        case providers(Providers)
    }

    private final class Devices: Sendable {
        let sessions: SessionRoutes
        let tokens: TokenRoutes
        let authenticate: AuthenticateConnection

        init(_ sessions: SessionRoutes, _ tokens: TokenRoutes, _ authenticate: AuthenticateConnection) {
            (self.sessions, self.tokens, self.authenticate) = (sessions, tokens, authenticate)
        }
    }

    private final class Providers: Sendable {
        let tokens: TokenRoutes

        init(_ tokens: TokenRoutes) { self.tokens = tokens }
    }

    private let asker: Asker
    private let face: ListenerFace
    private let session: RequestMeasurements.Instruments
    private let nonce: RequestMeasurements.Instruments
    private let introspection: RequestMeasurements.Instruments
    private let exchange: RequestMeasurements.Instruments
    private let answers = Counter(label: "fast_path_answers")
    let date: DateText

    /// For the client listener.
    convenience init(
        _ sessions: SessionRoutes, _ tokens: TokenRoutes, authenticate: AuthenticateConnection, face: ListenerFace
    ) {
        self.init(.devices(Devices(sessions, tokens, authenticate)), now: sessions.now, face)
    }

    /// For the public listener.
    convenience init(_ tokens: TokenRoutes, face: ListenerFace) {
        self.init(.providers(Providers(tokens)), now: tokens.now, face)
    }

    private init(_ asker: Asker, now: @escaping @Sendable () -> Date, _ face: ListenerFace) {
        self.asker = asker
        self.face = face
        func instruments(_ route: FastRequest.Route) -> RequestMeasurements.Instruments {
            face.instruments(route.method, route.template, route.status)
        }
        (session, nonce) = (instruments(.session), instruments(.nonce))
        (introspection, exchange) = (instruments(.introspection), instruments(.exchange))
        date = DateText(now: now)
    }

    /// Writes the body of the answer; `false` where the routes are to answer.
    ///
    /// - Parameters:
    ///   - content: the request's, whole.
    ///   - connection: the device's; `nil` where none is known.
    func write(
        _ request: FastRequest, _ content: ByteBuffer, on connection: ClientConnection?, to body: inout ByteBuffer
    ) -> Bool {
        switch (asker, request.question) {
        case (.devices(let devices), .session(let tokenHash)):
            guard let connection, devices.authenticate.fromMemory(connection),
                let session = devices.sessions.check.fromMemory(tokenHash, on: connection)
            else { return false }
            devices.sessions.write(session, on: connection, to: &body)
            return true
        case (.devices(let devices), .nonce):
            guard let connection, devices.authenticate.fromMemory(connection) else { return false }
            devices.sessions.writeNonce(for: connection, to: &body)
            return true
        case (.devices(let devices), .exchange):
            guard let connection else { return false }
            return devices.tokens.writeExchange(content, on: connection, to: &body)
        case (.providers(let providers), .introspection(let bearer)):
            guard let tokenHash = FastRequest.introspectedToken(content) else { return false }
            return providers.tokens.writeIntrospection(of: tokenHash, forBearer: bearer, to: &body)
        case (.devices, .introspection), (.providers, .session), (.providers, .nonce), (.providers, .exchange):
            return false
        }
    }

    /// Counts an answer and writes its line of the log, as the routes do.
    func record(_ request: FastRequest, id: String, elapsed: Duration) {
        answers.increment()
        let route = request.route
        let outcome = ListenerFace.Outcome(
            method: route.method, route: route.template, status: route.status, elapsed: elapsed, trace: request.trace)
        switch request.question {
        case .session: face.record(outcome, id: id, session)
        case .nonce: face.record(outcome, id: id, nonce)
        case .introspection: face.record(outcome, id: id, introspection)
        case .exchange: face.record(outcome, id: id, exchange)
        }
    }
}
