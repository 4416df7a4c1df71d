import Domain
import Encoding
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Operations

/// OAuth's endpoints: tokens on both listeners, introspection and revocation on the public one. They offer the
/// operations of other routes in the form of OAuth.
struct TokenRoutes: Sendable {
    /// The grant types (RFC 6749 §4.4, RFC 7523 §2.1, RFC 8693 §2.1).
    enum Grant: String, CaseIterable {
        case clientCredentials = "client_credentials"
        case assertion = "urn:ietf:params:oauth:grant-type:jwt-bearer"
        case tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    }

    private static let accessTokenType = "urn:ietf:params:oauth:token-type:access_token"
    private static let jwtType = "urn:ietf:params:oauth:token-type:jwt"
    private static let idTokenType = "urn:ietf:params:oauth:token-type:id_token"

    let service: Service

    func addPublic(to router: ListedRouter<PublicContext>) {
        let router = router.ofProviders.ignoringUnknownParameters
        router.post("token", cost: .write, use: tokenForProvider)
        router.post("introspect", cost: .read, use: introspectToken)
        router.post("revoke", cost: .write) { request, context in
            let (caller, form) = try await self.caller(of: request, for: .sessionsEnd, at: context.cost)
            try await service.revokeSession(try form.required("token"), for: caller)
            return Response(status: .ok)
        }
    }

    func addClient(to router: ListedRouter<ClientContext>) {
        let router = router.ignoringUnknownParameters
        router.post("token", cost: .write, use: tokenForDevice)
    }

    @Sendable private func tokenForProvider(_ request: Request, _ context: PublicContext) async throws -> Response {
        let form = try await request.form(upTo: service.policy[\.requests].maximumBody)
        guard try grant(of: form) == .clientCredentials else {
            throw Refusal.grantOfDevices(at: service.urls.clientTokenEndpoint)
        }
        try Self.requireOneProof(request, form)
        let answer = try await service.issueProviderAccessToken(
            form.assertion, scope: form["scope"], at: context.cost)
        context.carriedBy?.act(for: answer.provider)
        return .json([
            "access_token": .string(answer.token.reveal()), "token_type": .string("Bearer"),
            "expires_in": .integer(Int64(answer.lifetime)), "scope": .string(ProviderScope.text(answer.scopes)),
        ])
    }

    @Sendable private func tokenForDevice(_ request: Request, _ context: ClientContext) async throws -> Response {
        let form = try await request.form(upTo: service.policy[\.requests].maximumBody)
        let connection = try context.connection
        switch try grant(of: form) {
        case .assertion: return try await openSession(form, by: "assertion", as: .assertion, on: connection)
        case .tokenExchange where form["subject_token_type"] == Self.idTokenType:
            return try await exchangeIDToken(form, on: connection)
        case .tokenExchange: return try await exchangeToken(form, proof: try request.proof, on: connection)
        case .clientCredentials: throw Refusal.grantOfProviders(at: service.urls.tokenEndpoint)
        }
    }

    private func openSession(
        _ form: FormBody, by name: String, as proof: IdentityProof, on connection: ClientConnection
    ) async throws -> Response {
        let opened = try await service.openSession(
            identityToken: try form.required(name), applicationID: form["client_id"], as: proof, on: connection)
        opened.count()
        return .json([
            "access_token": opened.token.map { .string($0.text.reveal()) },
            "issued_token_type": proof == .idToken ? .string(Self.accessTokenType) : nil,
            "token_type": .string("Bearer"),
            "expires_in": .integer(Int64(opened.lifetime)), "session_id": .id(opened.session.id),
            "user_id": .id(opened.session.userID), "address": .string(opened.address),
            "idle_ttl": .integer(Int64(opened.idleLifetime)), "assurance": .string(opened.assurance.rawValue),
            "cnf": .object(["x5t#S256": .string(opened.session.thumbprint.base64URL)]),
        ])
    }

    /// Exchanges an issuer's ID token for a session token, as the assertion grant does with an identity token.
    private func exchangeIDToken(_ form: FormBody, on connection: ClientConnection) async throws -> Response {
        guard [nil, Self.accessTokenType].contains(form["requested_token_type"]) else {
            throw Refusal.requestedTypeMustBe(Self.accessTokenType)
        }
        try requireNoActor(form)
        guard form.targets.allSatisfy({ service.urls.audiences.contains($0) || $0 == service.urls.client }) else {
            throw Refusal.audienceElsewhere
        }
        return try await openSession(form, by: "subject_token", as: .idToken, on: connection)
    }

    private func requireNoActor(_ form: FormBody) throws(Refusal) {
        guard form["actor_token"] == nil, form["actor_token_type"] == nil else {
            throw Refusal.delegationUnsupported
        }
    }

    private func exchangeToken(
        _ form: FormBody, proof: String?, on connection: ClientConnection
    ) async throws -> Response {
        let exchanged = try await service.exchangeSessionToken(try exchangeRequest(form, proof: proof), on: connection)
        return .json(Self.json(exchanged).buffer)
    }

    /// Parses a device's request to exchange its session token.
    private func exchangeRequest(_ form: FormBody, proof: String?) throws(Refusal) -> Service.SessionExchange {
        let token = try form.required("subject_token")
        guard try form.required("subject_token_type") == Self.accessTokenType else {
            throw Refusal.subjectTypeMustBe(Self.accessTokenType, or: Self.idTokenType)
        }
        guard [nil, Self.jwtType, Self.accessTokenType].contains(form["requested_token_type"]) else {
            throw Refusal.requestedTypeMustBe(Self.jwtType)
        }
        try requireNoActor(form)
        guard !form.targets.isEmpty else {
            throw Refusal.audienceRequired
        }
        return Service.SessionExchange(
            token, for: form.targets, clientID: form["client_id"], scope: form["scope"], proof: proof)
    }

    private static func json(_ answer: Service.ExchangedToken) -> JSONValue {
        .object([
            "access_token": .string(answer.token.reveal()), "issued_token_type": .string(jwtType),
            "token_type": .string(answer.isBoundToKey ? "DPoP" : "Bearer"),
            "expires_in": .integer(Int64(answer.lifetime)),
            "scope": answer.scope.map { .string($0) },
        ])
    }

    /// Writes the response to an exchange, if memory alone suffices; `nil` if the routes must answer.
    ///
    /// - Parameter content: the complete form.
    func writeExchange(
        _ content: ByteBuffer, on connection: ClientConnection, to body: inout ByteBuffer
    ) -> RequestParties? {
        guard let form = try? FormBody(Array(content.readableBytesView)), (try? grant(of: form)) == .tokenExchange,
            let request = try? exchangeRequest(form, proof: nil),
            let answer = service.exchangeFromMemory(request, on: connection)
        else { return nil }
        body.writeImmutableBuffer(Self.json(answer).buffer)
        return RequestParties(answer.session)
    }

    @Sendable private func introspectToken(_ request: Request, _ context: PublicContext) async throws -> Response {
        let (caller, form) = try await self.caller(of: request, for: .sessionsRead, at: context.cost)
        let found = try await service.introspect(try form.required("token"), for: caller)
        var body = ByteBuffer()
        if let found { body.writeIntrospection(found) } else { body.writeStaticString("{\"active\":false}") }
        guard request.headers.accept(Self.introspectionType) else { return .json(body) }
        let token = try service.signIntrospection(Array(body.readableBytesView), for: caller)
        return Response(
            status: .ok, headers: [.contentType: Self.introspectionType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: token.reveal())))
    }

    /// The media type of RFC 9701 §4.
    private static let introspectionType = "application/token-introspection+jwt"

    /// Writes the response to an introspection, if memory alone suffices; `nil` if the routes must answer.
    ///
    /// - Parameters:
    ///   - tokenHash: the hash of the session token.
    ///   - bearer: the SHA-256 of the provider's token.
    func writeIntrospection(
        of tokenHash: Digest256, forBearer bearer: Digest256, to body: inout ByteBuffer
    ) -> RequestParties? {
        guard let caller = service.providerFromMemory(bearer, for: .sessionsRead),
            let found = service.introspectFromMemory(tokenHash, for: caller)
        else { return nil }
        body.writeIntrospection(found)
        return RequestParties(provider: caller)
    }

    /// Authenticates the caller by `Authorization: Bearer …` or by a client assertion in the form, but not by both (RFC
    /// 6749 §2.3).
    private func caller(
        of request: Request, for scope: ProviderScope, at cost: CallCost
    ) async throws -> (Service.ProvenProvider, FormBody) {
        let maximum = service.policy[\.requests].maximumBody
        guard request.bearer == nil, request.hasForm else {
            let caller = try await service.caller(of: request, for: scope, at: cost)
            let form = try await request.form(upTo: maximum)
            try Self.requireOneProof(request, form)
            return (caller, form)
        }
        let form = try await request.form(upTo: maximum)
        try Self.requireOneProof(request, form)
        let caller = try await service.authenticateProvider(form.assertion, at: cost)
        ResponseCarrier.current?.act(for: caller.id)
        return (caller, form)
    }

    /// Requires that the client authenticates in only one way (RFC 6749 §2.3). Two ways could name two clients.
    private static func requireOneProof(_ request: Request, _ form: FormBody) throws(Refusal) {
        guard
            form["client_assertion"] == nil || !request.headers.contains(.authorization) && form["client_secret"] == nil
        else {
            throw Refusal.severalClientProofs
        }
    }

    private func grant(of form: FormBody) throws(Refusal) -> Grant {
        guard let grant = Grant(rawValue: try form.required("grant_type")) else {
            throw Refusal.unknownGrant(Grant.self)
        }
        return grant
    }
}

extension Request {
    /// The `DPoP` field; a request may have only one (RFC 9449 §4.3).
    fileprivate var proof: String? {
        get throws(Refusal) {
            let fields = headers.values(of: .dpop)
            guard fields.count <= 1 else {
                throw Refusal.severalDPoPProofs
            }
            return fields.first
        }
    }
}
