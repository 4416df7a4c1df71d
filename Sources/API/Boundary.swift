import Foundation
import HTTPTypes
import Hummingbird
import Identity
import Logging
import Metrics
import Operations

/// The outermost middleware of every listener: errors become answers, each request one log line and two measurements.
///
/// The log holds the route's template and never the path, the query, a header or a body.
struct Boundary<Context: RequestContext>: RouterMiddleware {
    let listener: String
    let realm: String
    let policy: CurrentPolicy
    let measurements: RequestMeasurements
    /// A nonce for a refused caller, where the listener gives any.
    let freshNonce: @Sendable (Context) -> (nonce: String, expiresAt: Date)?

    init(
        listener: String, realm: String, policy: CurrentPolicy,
        freshNonce: @escaping @Sendable (Context) -> (nonce: String, expiresAt: Date)?
    ) {
        self.listener = listener
        self.realm = realm
        self.policy = policy
        self.freshNonce = freshNonce
        measurements = RequestMeasurements(listener: listener)
    }

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        var response: Response
        var failure: Problem?
        var cause: (any Error)?
        do {
            response = try await next(try await request.bounded(to: policy[\.requests].maximumBody), context)
        } catch let thrown {
            let passing = thrown as? FailureInPassing
            let error = passing?.cause ?? thrown
            var problem = Problem(error)
            if problem.status == .unauthorized || problem.refusal?.code == .invalidIdentityToken
                || problem.refusal?.code == .invalidPresenceProof
            {
                problem.nonce = freshNonce(context)
            }
            response = problem.response(requestID: context.id, realm: realm)
            // The rest of the body is still on its way: nobody waits for it.
            if problem.refusal?.code == .payloadTooLarge { response.headers[.connection] = "close" }
            if let passing { response.tell(passing.opened) }
            failure = problem
            cause = error
        }
        let elapsed = ContinuousClock.now - start
        let route = context.endpointPath ?? "unmatched"
        record(request.method, route, response.status, elapsed, failure)
        log(request.method, route, response.status, elapsed, failure, cause, context.logger)
        return response
    }

    private func record(
        _ method: HTTPRequest.Method, _ route: String, _ status: HTTPResponse.Status, _ elapsed: Duration,
        _ failure: Problem?
    ) {
        measurements.of(method, route, status).record(elapsed)
        guard let refusal = failure?.refusal else { return }
        Counter(
            label: "refusals", dimensions: [("code", refusal.code.rawValue), ("reason", refusal.reason ?? "")]
        ).increment()
    }

    private func log(
        _ method: HTTPRequest.Method, _ route: String, _ status: HTTPResponse.Status, _ elapsed: Duration,
        _ failure: Problem?, _ cause: (any Error)?, _ logger: Logger
    ) {
        let isFailure = status.code >= 500
        guard logger.logLevel <= (isFailure ? .error : .info) else { return }
        var metadata: Logger.Metadata = [
            "listener": .string(listener), "method": .string(method.rawValue), "route": .string(route),
            "status": .string(String(status.code)), "microseconds": .string(String(elapsed.nanoseconds / 1000)),
        ]
        if let refusal = failure?.refusal {
            metadata["code"] = "\(refusal.code.rawValue)"
            if let reason = refusal.reason { metadata["reason"] = "\(reason)" }
            if let detail = refusal.privateDetail { metadata["cause"] = "\(detail)" }
        } else if let cause {
            metadata["cause"] = .string(ErrorWords.of(cause))
        }
        logger.log(level: isFailure ? .error : .info, "request", metadata: metadata)
    }
}

extension Duration {
    /// Whole nanoseconds.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
