import Domain
import HTTPTypes
import Hummingbird
import Metrics
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

/// Admits a protected action with a session's token. On some paths an identity token is accepted too and creates the
/// session with the request.
struct RequireSession: RouterMiddleware {
    private let service: Service
    private let allowsIdentityToken: Bool

    init(_ service: Service, allowsIdentityToken: Bool) {
        self.service = service
        self.allowsIdentityToken = allowsIdentityToken
    }

    func handle(
        _ request: Request, context: ClientContext, next: (Request, ClientContext) async throws -> Response
    ) async throws -> Response {
        let connection = try context.connection
        var context = context
        switch try AuthorizationHeader(request.headers.text(of: .authorization)) {
        case .none:
            throw Refusal.sessionRequired
        case .export:
            throw Refusal.exportTokenOutOfPlace
        case .session(let token):
            let session = try await service.checkSession(token, on: connection)
            context.session = session
            context.carriedBy?.act(for: session.userID)
            return try await next(request, context)
        case .identity(let token, let applicationID, let named):
            guard allowsIdentityToken else {
                throw Refusal.identityTokenOutOfPlace
            }
            let opened = try await create(token, applicationID, named, on: connection)
            context.session = opened.session
            context.carriedBy?.act(for: opened.session.userID)
            var response: Response
            do {
                response = try await next(request, context)
            } catch {
                throw ActionFailedAfterSignIn(cause: error, opened: opened)
            }
            response.report(opened)
            return response
        }
    }

    private func create(
        _ token: String, _ applicationID: String?, _ named: String?, on connection: ClientConnection
    ) async throws -> Service.OpenedSession {
        do {
            if let named, named != service.realm {
                throw Refusal.foreignRealm
            }
            let opened = try await service.openSession(
                identityToken: token, applicationID: applicationID, on: connection)
            opened.count()
            return opened
        } catch let refusal as Refusal where refusal.code == .invalidIdentityToken {
            throw HeaderSignInRefusal(refusal: refusal)
        } catch let refusal as Refusal where refusal.subject == .applicationID {
            throw Refusal.authorizedApplication(refusal)
        }
    }
}

/// An action failed after its request had opened a session. The session exists, so the response must contain it.
struct ActionFailedAfterSignIn: Error {
    let cause: any Error
    let opened: Service.OpenedSession
}

extension Service.OpenedSession {
    /// Counts a sign-in, and the claims that it came without.
    func count() {
        Counter(label: "nonces_spent").increment()
        for claim in ignoredClaims {
            Counter(label: "identity_claims_ignored", dimensions: [("claim", claim)]).increment()
        }
    }
}

extension Response {
    /// Adds the token of the opened session to the response.
    mutating func report(_ opened: Service.OpenedSession) {
        headers[values: .layerUserID] = [opened.session.userID.description]
        headers[values: .layerSessionToken] = [opened.token?.text.reveal() ?? ""]
        headers[values: .layerSessionTTL] = [String(opened.lifetime)]
        headers[.cacheControl] = "no-store"
    }
}

extension HTTPField.Name {
    static let layerUserID = known("X-Layer-User-ID")
    static let layerSessionToken = known("X-Layer-Session-Token")
    static let layerSessionTTL = known("X-Layer-Session-TTL")

    static func known(_ name: String) -> HTTPField.Name {
        guard let field = HTTPField.Name(name) else { preconditionFailure("not a field name") }
        return field
    }
}
