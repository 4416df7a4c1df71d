import Domain
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Metrics
import Operations
import Traces
import Tracing

/// The outermost middleware of every listener. It turns errors into responses, and writes a log line and two
/// measurements for each request.
///
/// The log has the route's template and never the path, the query, a header or a body.
struct ErrorResponseMiddleware<Context: ListenerContext>: RouterMiddleware {
    let face: ListenerFace
    let policy: CurrentPolicy
    /// A nonce for a refused caller, if the listener issues nonces.
    let freshNonce: @Sendable (Context) -> (nonce: String, expiresAt: Date)?

    init(
        face: ListenerFace, policy: CurrentPolicy,
        freshNonce: @escaping @Sendable (Context) -> (nonce: String, expiresAt: Date)? = { _ in nil }
    ) {
        self.face = face
        self.policy = policy
        self.freshNonce = freshNonce
    }

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let named = request.headers.traceParent
        guard named != nil || face.tracer != nil else { return try await answer(request, context, nil, nil, next) }
        let span = face.tracer?.startSpan(
            "request", context: .of(named.map { Trace(parent: $0, tracer: face.tracer) }), ofKind: .server)
        let trace = span?.identity ?? named
        return try await ServiceContext.withValue(.of(trace.map { Trace(parent: $0, tracer: face.tracer) })) {
            try await answer(request, context, trace, span, next)
        }
    }

    private func answer(
        _ request: Request, _ context: Context, _ trace: TraceParent?, _ span: RecordedSpan?,
        _ next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        var response: Response
        var problem: Problem?
        var cause: (any Error)?
        // The router skips empty parts of a path, so its result for such a path is not the requested one.
        let isPath = RouteDirectory.parts(ofPath: request.uri.path) != nil
        if !isPath { context.coreContext.endpointPath.value = nil }
        // Set by the router; nil if no route matched.
        let route = context.endpointPath
        do {
            let bounded = try await bounded(request, route, context)
            guard isPath else { throw HTTPError(.notFound) }
            response = try await next(bounded, context)
            let length = request.method == .head ? 0 : response.body.contentLength
            try await context.carriedBy?.settle(at: length, isCommitted: request.method != .get)
        } catch let error as HTTPError where error.status == .notFound && route == nil {
            (response, problem) = unrouted(request, context)
        } catch {
            cause = (error as? ActionFailedAfterSignIn)?.cause ?? error
            context.carriedBy?.drop()
            (response, problem) = refusal(of: error, request, context)
        }
        // RFC 9110 §9.3.2 and §8.6: fields as for GET, no body, and no length if the response can have no body.
        if request.method == .head { response = response.createHeadResponse() }
        if response.status == .noContent { response.headers[.contentLength] = nil }
        response.headers.append(.requestID(context.id))
        let parties = context.parties
        context.carriedBy?.finish()
        let elapsed = ContinuousClock.now - start
        // A response to a client that has closed is recorded as 499, unless the service itself failed.
        let isTaken = response.status.code >= 500 || context.channel.isActive
        face.record(
            ListenerFace.Outcome(
                method: request.method, route: route ?? RequestMeasurements.unmatched,
                status: isTaken ? response.status : ClientGone.status, elapsed: elapsed, problem: problem, cause: cause,
                parties: parties, trace: trace, span: span),
            id: context.id, by: context.logger)
        return response
    }

    /// The request with a body of bounded size. Few routes permit more than the policy does, so only bodies with a large
    /// length are looked up. A chunked body has the usual size at most: its memory would be claimed before its sender is
    /// known.
    private func bounded(_ request: Request, _ route: String?, _ context: Context) async throws -> Request {
        let usual = policy[\.requests].maximumBody
        guard !request.headers.contains(.transferEncoding), request.mayExceed(usual), let route,
            let own = face.directory.largestBody(of: request.method, route, on: face.name), own > usual
        else { return try await request.bounded(to: usual, on: context.channel, by: context.carriedBy) }
        // Its route claims it when its sender is known.
        return try await request.bounded(to: own, on: context.channel, by: nil)
    }

    private func refusal(
        of error: any Error, _ request: Request, _ context: Context
    ) -> (Response, Problem) {
        let passing = error as? ActionFailedAfterSignIn
        var problem = Problem(passing?.cause ?? error)
        let isOAuth = context.endpointPath.map(OAuthError.applies) ?? false
        problem.hasBearer = request.bearer != nil
        if isOAuth {
            // The client authenticates only in the form at the token endpoint (RFC 6749 §5.2).
            problem = problem.ofOAuth(
                hasAuthorization: context.endpointPath?.hasPrefix("/ssf/") == true
                    || problem.hasBearer && context.endpointPath != "/token")
        }
        if context.endpointPath == SecurityEventError.path { problem = problem.ofSecurityEvent() }
        if isOAuth || problem.status == .unauthorized || problem.refusal?.code == .invalidIdentityToken
            || problem.refusal?.code == .invalidPresenceProof
        {
            problem.nonce = freshNonce(context)
        }
        var response = self.response(problem, context)
        // The rest of the body still arrives, or its end is unknown, so the connection must close.
        if problem.refusal?.code == .payloadTooLarge || (passing?.cause ?? error) is HTTPDefect {
            response.headers[.connection] = "close"
        }
        if let passing { response.report(passing.opened) }
        return (response, problem)
    }

    /// The response to a method or a path that the listener's router does not have.
    private func unrouted(_ request: Request, _ context: Context) -> (Response, Problem?) {
        let problem: Problem
        switch face.directory.find(request.uri.path, on: face.name) {
        case .otherMethods(let methods):
            guard request.method != .options else {
                return (Response(status: .noContent, headers: [.allow: HTTPDefect.list(methods)]), nil)
            }
            problem = Problem(HTTPDefect.methodNotAllowed(methods))
        case .elsewhere(let other):
            let place = face.place(of: other)
            problem = Problem(Refusal.pathElsewhere(other.rawValue, place))
        case .nowhere: problem = Problem(Refusal.unknownPath)
        }
        return (response(problem, context), problem)
    }

    private func response(_ problem: Problem, _ context: Context) -> Response {
        problem.response(requestID: context.id, from: face)
    }
}

extension Duration {
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
