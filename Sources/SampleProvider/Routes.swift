import Foundation
import HTTPTypes
import Hummingbird

/// The requests of the app to its backend, as JSON or as a form. Errors are `{"error":{"message":…}}`.
struct Routes: Sendable {
    let accounts: Accounts
    let service: CountersignService
    let signer: TokenSigner
    let signals: SignalReceiver

    func router() -> Router<SampleContext> {
        let router = Router(context: SampleContext.self)
        router.post("register", use: register)
        router.post("login", use: logIn)
        router.post("identity-token", use: identityToken)
        router.post("password", use: changePassword)
        router.get("users/:username/verification", use: verification)
        router.get("users/:username/events", use: events)
        router.post("introspect", use: introspect)
        router.post("logout", use: logOut)
        return router
    }

    /// `POST /register` `Username`, `Password`, `DeviceID` → `200`; `403` if the name is taken.
    @Sendable func register(_ request: Request, _ context: SampleContext) async throws -> Response {
        let fields = try await request.decode(as: Fields.self, context: context)
        let (name, password) = try fields.credentials()
        let device = try fields.require("DeviceID", fields.deviceID)
        guard password.count >= 8 else { throw HTTPError(.badRequest, message: "Password needs 8 characters") }
        guard try await accounts.register(name, password: password, device: device) else {
            throw HTTPError(.forbidden, message: "that Username is taken")
        }
        return try json(["username": name])
    }

    /// `POST /login` `Username`, `Password`, `DeviceID` → `200`; `403` if they do not match.
    @Sendable func logIn(_ request: Request, _ context: SampleContext) async throws -> Response {
        let fields = try await request.decode(as: Fields.self, context: context)
        let device = try fields.require("DeviceID", fields.deviceID)
        let name = try await authenticate(fields)
        try await accounts.note(device: device, of: name)
        return try json(["username": name])
    }

    /// `POST /identity-token` `Username`, `Password`, `nonce` → `{"identity_token"}`.
    ///
    /// This is the essential route. The device sends Countersign's nonce with the user's credentials. This backend
    /// checks the credentials by any means it likes, and signs a token for exactly that user and that nonce.
    @Sendable func identityToken(_ request: Request, _ context: SampleContext) async throws -> Response {
        let fields = try await request.decode(as: Fields.self, context: context)
        let nonce = try fields.require("nonce", fields.nonce)
        let name = try await authenticate(fields)
        let realm = try await asking { try await service.realm() }
        return try json([
            "identity_token": try signer.identityToken(user: name, nonce: nonce, realm: realm, now: Date())
        ])
    }

    /// `POST /password` `Username`, `Password`, `NewPassword` → `204`: the password is changed, and Countersign
    /// challenges the user's sessions.
    @Sendable func changePassword(_ request: Request, _ context: SampleContext) async throws -> Response {
        let fields = try await request.decode(as: Fields.self, context: context)
        let new = try fields.require("NewPassword", fields.newPassword)
        guard new.count >= 8 else { throw HTTPError(.badRequest, message: "NewPassword needs 8 characters") }
        let name = try await authenticate(fields)
        try await accounts.change(password: new, of: name)
        try await asking {
            let realm = try await service.realm()
            try await service.report(try signer.passwordChanged(user: name, realm: realm, now: Date()))
        }
        return Response(status: .noContent)
    }

    /// `GET /users/{username}/events`, HTTP Basic credentials → `{"events": […]}`: the Shared Signals events that
    /// Countersign has sent about this user.
    @Sendable func events(_ request: Request, _ context: SampleContext) async throws -> Response {
        let name = try await authenticate(Fields(basicAuthorizationOf: request))
        guard context.parameters.get("username")?.removingPercentEncoding == name else {
            throw HTTPError(.forbidden, message: "that is another user")
        }
        let events = try await asking { try await signals.events(about: name) }
        return json(try JSONEncoder().encode(["events": events]))
    }

    /// `GET /users/{username}/verification`, HTTP Basic credentials → the data that Countersign has verified about
    /// this user.
    @Sendable func verification(_ request: Request, _ context: SampleContext) async throws -> Response {
        let name = try await authenticate(Fields(basicAuthorizationOf: request))
        guard context.parameters.get("username")?.removingPercentEncoding == name else {
            throw HTTPError(.forbidden, message: "that is another user")
        }
        return json(try await asking { try await service.verification(of: name) })
    }

    /// `POST /introspect` `Username`, `Password`, `token` → Countersign's introspection of the user's own session
    /// token.
    @Sendable func introspect(_ request: Request, _ context: SampleContext) async throws -> Response {
        let fields = try await request.decode(as: Fields.self, context: context)
        let token = try fields.require("token", fields.token)
        let name = try await authenticate(fields)
        return json(try await asking { try await service.introspection(of: token, user: name) })
    }

    /// `POST /logout` `Username`, `Password` → `204`: every session of the user at Countersign has ended.
    @Sendable func logOut(_ request: Request, _ context: SampleContext) async throws -> Response {
        let name = try await authenticate(try await request.decode(as: Fields.self, context: context))
        try await asking { try await service.endSessions(of: name) }
        return Response(status: .noContent)
    }

    private func authenticate(_ fields: Fields) async throws -> String {
        let (name, password) = try fields.credentials()
        switch try await accounts.check(name, password: password, now: Date()) {
        case .accepted: return name
        case .wrong: throw HTTPError(.forbidden, message: "Username and Password do not match")
        case .limited(let seconds):
            throw HTTPError(
                .tooManyRequests, headers: [.retryAfter: String(seconds)], message: "too many attempts for this user")
        }
    }

    /// Turns a refusal of Countersign into a response of this backend.
    private func asking<Answer: Sendable>(_ call: () async throws -> Answer) async throws -> Answer {
        do {
            return try await call()
        } catch let refused as CountersignService.Refused where refused.status == 404 {
            throw HTTPError(.notFound, message: "Countersign does not know this user")
        } catch let refused as CountersignService.Refused {
            throw HTTPError(.badGateway, message: "Countersign answered \(refused.status) \(refused.code ?? "")")
        } catch {
            throw HTTPError(.serviceUnavailable, message: "Countersign cannot be reached")
        }
    }

    private func json(_ value: [String: String]) throws -> Response { json(try JSONEncoder().encode(value)) }

    /// Every response concerns one user and may contain a token, so caches must not store it.
    private func json(_ data: Data) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(bytes: data)))
    }
}

/// The fields of a request.
struct Fields: Decodable {
    var username, password, newPassword, deviceID, nonce, token: String?

    init(from decoder: any Decoder) throws {
        let values = try decoder.singleValueContainer().decode([String: String].self)
        username = values["Username"] ?? values["username"]
        password = values["Password"] ?? values["password"]
        newPassword = values["NewPassword"]
        deviceID = values["DeviceID"]
        nonce = values["nonce"]
        token = values["token"]
    }

    /// Parses user name and password from `Authorization: Basic …` (RFC 7617).
    init(basicAuthorizationOf request: Request) {
        let words = request.headers[.authorization]?.split(separator: " ") ?? []
        guard words.count == 2, words[0].lowercased() == "basic", let data = Data(base64Encoded: String(words[1]))
        else { return }
        let pair = String(decoding: data, as: UTF8.self).split(separator: ":", maxSplits: 1)
        (username, password) = (pair.first.map(String.init), pair.dropFirst().first.map(String.init))
    }

    /// A required field, neither empty nor too long.
    func require(_ name: String, _ value: String?) throws -> String {
        guard let value, !value.isEmpty else { throw HTTPError(.badRequest, message: "\(name) is missing") }
        guard value.utf8.count <= 1024 else { throw HTTPError(.badRequest, message: "\(name) is too long") }
        // libjwt takes C strings, which end at the first NUL: "alice\0x" must not be signed as "alice" (Upstream.md).
        guard !value.utf8.contains(0) else { throw HTTPError(.badRequest, message: "\(name) is malformed") }
        return value
    }

    /// User name and password. A name is stored in Unicode's composed form, so that it has one spelling everywhere.
    func credentials() throws -> (name: String, password: String) {
        let name = try require("Username", username).precomposedStringWithCanonicalMapping
        let password = try require("Password", password)
        guard name.utf8.count <= 256, name.contains(where: { $0.isLetter || $0.isNumber }) else {
            throw HTTPError(.badRequest, message: "Username is malformed")
        }
        return (name, password)
    }
}

/// Decodes bodies of at most 16 KiB, as form or JSON.
struct SampleContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    var maxUploadSize: Int { 16 * 1024 }
    var requestDecoder: FormOrJSONDecoder { FormOrJSONDecoder() }

    init(source: Source) { coreContext = .init(source: source) }

    struct FormOrJSONDecoder: RequestDecoder {
        func decode<T: Decodable>(_ type: T.Type, from request: Request, context: some RequestContext) async throws -> T
        {
            let isForm = request.headers[.contentType]?.hasPrefix("application/x-www-form-urlencoded") == true
            return isForm
                ? try await URLEncodedFormDecoder().decode(type, from: request, context: context)
                : try await JSONDecoder().decode(type, from: request, context: context)
        }
    }
}
