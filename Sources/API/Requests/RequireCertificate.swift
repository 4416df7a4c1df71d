import Hummingbird
import Operations

/// Verifies the certificate before any other part of a request.
struct RequireCertificate: RouterMiddleware {
    let service: Service

    func handle(
        _ request: Request, context: ClientContext, next: (Request, ClientContext) async throws -> Response
    ) async throws -> Response {
        try await service.authenticate(try context.connection)
        return try await next(request, context)
    }
}
