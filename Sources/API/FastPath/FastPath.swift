import Domain
import Foundation
import HTTPTypes
import Hummingbird
import Metrics
import NIOCore
import Operations
import Synchronization

/// Answers requests on the event loop of their connection if this process's memory suffices, and only with success.
///
/// Requests that are refused, read the store or write are passed to the routes, so that refusals, audit and challenge
/// are in one place. Both share decisions, bodies, measurements and log lines.
///
/// Calls are not counted against limits here, because an answer from memory is free.
final class FastPath: Sendable {
    /// The requester as one object. Copies of its members would change dozens of reference counters for each request,
    /// contended by all event loops.
    private enum Asker {
        case devices(Devices)
        case providers(Providers)
    }

    private final class Devices: Sendable {
        let sessions: SessionRoutes
        let tokens: TokenRoutes

        init(_ sessions: SessionRoutes, _ tokens: TokenRoutes) {
            (self.sessions, self.tokens) = (sessions, tokens)
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

    convenience init(_ sessions: SessionRoutes, _ tokens: TokenRoutes, face: ListenerFace) {
        self.init(.devices(Devices(sessions, tokens)), now: sessions.service.environment.now, face)
    }

    convenience init(_ tokens: TokenRoutes, face: ListenerFace) {
        self.init(.providers(Providers(tokens)), now: tokens.service.environment.now, face)
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

    /// Writes the body of the answer, and returns whom the request concerns; `nil` if the routes must answer.
    ///
    /// - Parameters:
    ///   - content: the complete content of the request.
    ///   - connection: the device's connection; `nil` if none is known.
    func write(
        _ request: FastRequest, _ content: ByteBuffer, on connection: ClientConnection?, to body: inout ByteBuffer
    ) -> RequestParties? {
        switch (asker, request.question) {
        case (.devices(let devices), .session(let tokenHash)):
            guard let connection, devices.sessions.service.isAuthenticated(connection),
                let session = devices.sessions.service.sessionFromMemory(tokenHash, on: connection)
            else { return nil }
            devices.sessions.write(session, on: connection, to: &body)
            return RequestParties(session)
        case (.devices(let devices), .nonce):
            guard let connection, devices.sessions.service.isAuthenticated(connection) else { return nil }
            devices.sessions.writeNonce(for: connection, to: &body)
            return RequestParties(device: connection.deviceID)
        case (.devices(let devices), .exchange):
            guard let connection else { return nil }
            return devices.tokens.writeExchange(content, on: connection, to: &body)
        case (.providers(let providers), .introspection(let bearer)):
            guard let tokenHash = FastRequest.introspectedToken(content) else { return nil }
            return providers.tokens.writeIntrospection(of: tokenHash, forBearer: bearer, to: &body)
        case (.devices, .introspection), (.providers, .session), (.providers, .nonce), (.providers, .exchange):
            return nil
        }
    }

    /// Counts an answer and writes its log line as the routes do.
    func record(_ request: FastRequest, of parties: RequestParties, id: String, elapsed: Duration) {
        answers.increment()
        let route = request.route
        let outcome = ListenerFace.Outcome(
            method: route.method, route: route.template, status: route.status, elapsed: elapsed, parties: parties,
            trace: request.trace)
        switch request.question {
        case .session: face.record(outcome, id: id, session)
        case .nonce: face.record(outcome, id: id, nonce)
        case .introspection: face.record(outcome, id: id, introspection)
        case .exchange: face.record(outcome, id: id, exchange)
        }
    }
}

/// The connection of a channel once its peer is known. Until then the routes answer.
final class EstablishedConnection: Sendable {
    /// Shared by the fast path and the routes.
    let requestIDs: RequestIDs
    private let connection = Mutex<ClientConnection?>(nil)

    init(requestIDs: RequestIDs) {
        self.requestIDs = requestIDs
    }

    var value: ClientConnection? { connection.withLock { $0 } }

    func establish(_ connection: ClientConnection) {
        self.connection.withLock { $0 = connection }
    }
}
