import Domain
import Encoding
import HTTPTypes
import Hummingbird
import NIOCore
import Operations

package extension Listeners {
    /// Answers a request of an administrator: its head, its body or the error in place of it, the digest of the
    /// connection's certificate, and the request's id. It answers every error with a page.
    typealias Pages = @Sendable (HTTPRequest, Result<[UInt8], any Error>, Digest256, String) async -> PageReply

    /// A page with the template of its route for the log, the error that it reports, and the administrator whose
    /// certificate was verified.
    typealias PageReply = (
        head: HTTPResponse, body: [UInt8], route: String, cause: (any Error)?, administrator: AdministratorID?
    )

    /// The status of a refusal.
    static func status(of code: Refusal.Code) -> HTTPResponse.Status { Problem.status(of: code) }
}

/// Reads requests of administrators for the module of the pages, and writes its pages as responses with a log line and
/// the measurements of every listener.
struct ConsoleResponder: HTTPResponder {
    let face: ListenerFace
    let pages: Listeners.Pages

    /// The largest body: a form.
    static let largestBody = 16_384

    func respond(to request: Request, context: ClientContext) async throws -> Response {
        let start = ContinuousClock.now
        // Without a handshake there is no connection here, and no page.
        guard let thumbprint = context.current?.thumbprint else { throw HTTPError(.forbidden) }
        let body = await body(of: request, context)
        // Nobody reads the page of a request that did not arrive.
        if case .failure(let error as ClientGone) = body { return gone(error, request, context, since: start) }
        var reply = await pages(request.head, body, thumbprint, context.id)
        do {
            try await context.carriedBy?.settle(at: reply.body.count)
        } catch let error as ClientGone {
            return gone(error, request, context, since: start)
        } catch {
            reply = await pages(request.head, .failure(error), thumbprint, context.id)
        }
        var fields = reply.head.headerFields
        fields[.contentLength] = String(reply.body.count)
        fields.append(.requestID(context.id))
        // The rest of the body still arrives, so the connection must close.
        if case .failure = body { fields[.connection] = "close" }
        var response = Response(
            status: reply.head.status, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: reply.body)))
        if request.method == .head { response = response.createHeadResponse() }
        context.carriedBy?.finish()
        let isTaken = response.status.code >= 500 || context.channel.isActive
        var parties = RequestParties()
        parties.administrator = reply.administrator
        face.record(
            ListenerFace.Outcome(
                method: request.method, route: reply.route, status: isTaken ? response.status : ClientGone.status,
                elapsed: ContinuousClock.now - start, problem: reply.cause.map { Problem($0) }, cause: reply.cause,
                parties: parties),
            id: context.id, by: context.logger)
        return response
    }

    private func gone(
        _ error: ClientGone, _ request: Request, _ context: ClientContext, since start: ContinuousClock.Instant
    ) -> Response {
        face.record(
            ListenerFace.Outcome(
                method: request.method, route: RequestMeasurements.unmatched, status: ClientGone.status,
                elapsed: ContinuousClock.now - start, problem: Problem(error), cause: nil),
            id: context.id, by: context.logger)
        return Response(status: ClientGone.status, headers: [.connection: "close"])
    }

    private func body(of request: Request, _ context: ClientContext) async -> Result<[UInt8], any Error> {
        do {
            let bounded = try await request.bounded(
                to: Self.largestBody, on: context.channel, by: context.carriedBy)
            return .success(try await bounded.bytes(upTo: Self.largestBody))
        } catch {
            return .failure(error)
        }
    }
}
