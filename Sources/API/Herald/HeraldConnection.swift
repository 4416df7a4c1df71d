import Domain
import HTTPTypes
import Herald
import Logging
import Metrics
import NIOCore
import Operations

/// Herald on an accepted connection (`herald/1`). Frames are handled on its event loop. Anything that must wait runs in
/// tasks of the connection.
final class HeraldConnection: Sendable {
    /// The protocol's name in the handshake (RFC 7301).
    static let name = "herald/1"

    /// Work that a connection's event loop delegates.
    enum Job: Sendable {
        case authenticate(String)
        case judge(Service.HeldSession)
        case call(HeraldCallQueue.Running, Service.HeldSession)
        case watch(Service.MessageWatch)
    }

    struct Value: Sendable {
        let handler: NIOLoopBound<HeraldHandler>
        let jobs: AsyncStream<Job>
        let channel: any Channel
    }

    let service: Service
    let calls: HeraldCalls
    let limits: RequestPolicy
    let face: ListenerFace
    private let tickers = HeraldTickers()

    init(service: Service, calls: HeraldCalls, limits: RequestPolicy, face: ListenerFace) {
        self.service = service
        self.calls = calls
        self.limits = limits
        self.face = face
    }

    /// Adds the protocol's handler. Call on the connection's event loop.
    func setup(channel: any Channel, activity: ConnectionActivity) throws -> Value {
        // The handler limits their number: it continues to read when they are done.
        let (jobs, sender) = AsyncStream.makeStream(of: Job.self)
        let handler = HeraldHandler(
            limits: limits, service: service, activity: activity, ticker: tickers.of(channel.eventLoop),
            makeCarrier: { [accounts = face.accounts] in ResponseCarrier(accounts, on: channel) },
            send: { sender.yield($0) },
            over: { sender.finish() })
        try channel.pipeline.syncOperations.addHandler(handler)
        return Value(handler: NIOLoopBound(handler, eventLoop: channel.eventLoop), jobs: jobs, channel: channel)
    }

    func handle(_ value: Value, on connection: ClientConnection, logger: Logger) async {
        let (handler, loop) = (value.handler, value.channel.eventLoop)
        loop.execute { handler.value.begin(on: connection) }
        await withDiscardingTaskGroup { group in
            for await job in value.jobs {
                group.addTask { [self] in
                    switch job {
                    case .authenticate(let token):
                        let carrier = ResponseCarrier(face.accounts, on: value.channel)
                        let result = await carrier.carrying { await authenticate(token, on: connection, carrier) }
                        loop.execute { handler.value.authenticated(result) }
                    case .judge(let held):
                        let verdict = await service.verdict(held, on: connection)
                        loop.execute { handler.value.judged(verdict) }
                    case .call(let running, let held):
                        let outcome = await running.carrier.carrying {
                            await calls.answer(
                                running.call.payload, token: held.token.reveal(), on: value.channel, logger: logger)
                        }
                        loop.execute { handler.value.finish(running.call, outcome) }
                    case .watch(let watch):
                        for await _ in watch.changes { loop.execute { handler.value.change() } }
                    }
                }
            }
            group.cancelAll()
        }
    }

    /// Verifies a token, and logs that like a request.
    private func authenticate(
        _ token: String, on connection: ClientConnection, _ carrier: ResponseCarrier
    ) async -> HeraldHandler.Authentication {
        let start = ContinuousClock.now
        let id = (CurrentConnection.current.requestIDs ?? face.newRequestIDs()).next()
        do {
            let held = try await service.holdSession(token, on: connection)
            record(nil, nil, start, id, connection, carrier)
            return .holds(held)
        } catch {
            let problem = Problem(error)
            record(problem, error, start, id, connection, carrier)
            switch problem.refusal?.code {
            case .sessionChallenged: return .refused(.challenged)
            case .userBanned: return .refused(.banned)
            case .sessionDestroyed, .sessionExpired, .bindingMismatch: return .refused(.notAuthenticated)
            default: return .impossible
            }
        }
    }

    private func record(
        _ problem: Problem?, _ cause: (any Error)?, _ start: ContinuousClock.Instant, _ id: String,
        _ connection: ClientConnection, _ carrier: ResponseCarrier
    ) {
        var parties = carrier.parties
        parties.device = connection.deviceID
        face.record(
            ListenerFace.Outcome(
                method: Self.method, route: "/herald", status: problem?.status ?? .ok,
                elapsed: ContinuousClock.now - start, problem: problem, cause: cause,
                parties: parties), id: id)
    }

    /// Recorded as the method in measurements and the log.
    private static let method = HTTPRequest.Method("AUTH") ?? .unread
}

extension Service.HeldSession.Verdict {
    /// `nil` if the session's state is not known.
    var ofHerald: HeraldState.Verdict? {
        switch self {
        case .holds: .holds
        case .challenged: .challenged
        case .banned: .banned
        case .ended: .ended
        case .unknown: nil
        }
    }
}
