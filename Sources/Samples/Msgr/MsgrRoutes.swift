import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import SampleBackend

/// The calls of the app. A password is needed to log in only. Later calls use the session at Countersign, on the device
/// that it is bound to.
struct MsgrRoutes: Sendable {
    let store: MsgrStore
    let countersign: CountersignCalls
    let verify: SessionVerifier
    private let passwords: Passwords
    private let registrations = Limiter(600, per: 3600), attempts = Limiter(10, per: 900)
    private let additions = Limiter(60, per: 3600), sendings = Limiter(60, per: 60)

    init(store: MsgrStore, passwords: Passwords, countersign: CountersignCalls, verify: SessionVerifier) {
        (self.store, self.passwords, self.countersign, self.verify) = (store, passwords, countersign, verify)
    }

    /// The routes of the plain listener, before there is a session.
    func accounts() -> Router<SampleContext> {
        let router = Router(context: SampleContext.self)
        router.post("register", use: register)
        router.post("login", use: logIn)
        return router
    }

    /// The routes of the device listener.
    func messages() -> Router<SampleContext> {
        let router = Router(context: SampleContext.self)
        router.post("contacts") { request, context in
            let caller = try await verify(request, context)
            return try Response.json(try await store.contacts(of: caller.user))
        }
        router.post("add") { request, context in
            let caller = try await verify(request, context)
            return try await add(try await request.decode(as: Fields.self, context: context), by: caller.user)
        }
        router.post("message") { request, context in
            let caller = try await verify(request, context)
            let fields = try await request.decode(as: Fields.self, context: context)
            guard fields.password == nil else {
                throw HTTPError(.badRequest, message: "send no Password here: the session is enough")
            }
            return try await send(fields, by: caller.user)
        }
        return router
    }

    struct Fields: Decodable {
        let username, password, deviceID, nonce: String?
        let userFrom, userTo, addUser, message, id: String?

        enum CodingKeys: String, CodingKey {
            case nonce, id
            case username = "Username"
            case password = "Password"
            case deviceID = "DeviceID"
            case userFrom = "UserFrom"
            case userTo = "UserTo"
            case addUser = "AddUser"
            case message = "Message"
        }
    }

    /// `POST /register` `Username`, `Password`, `DeviceID` → `200`; `403` if the name is taken.
    @Sendable private func register(_ request: Request, _ context: SampleContext) async throws -> Response {
        let fields = try await request.decode(as: Fields.self, context: context)
        let (name, password, device) = try Self.credentials(fields)
        guard password.count >= 8 else { throw HTTPError(.badRequest, message: "Password needs 8 characters") }
        try await registrations.count("all")
        let hash = try await passwords.hash(password)
        guard try await store.register(name, hash, device: device) else {
            throw HTTPError(.forbidden, message: "that Username is taken")
        }
        return try .json(["Username": name])
    }

    /// `POST /login` `Username`, `Password`, `DeviceID` → `200`; `403` if they do not match.
    ///
    /// With the `nonce` that the device got from Countersign the response has an `identity_token`, with which the
    /// device opens a session there.
    @Sendable private func logIn(_ request: Request, _ context: SampleContext) async throws -> Response {
        let fields = try await request.decode(as: Fields.self, context: context)
        let device = try Self.device(fields.deviceID)
        let name = try await authenticate(fields.username, "Username", fields.password)
        try await store.note(device: device, of: name)
        guard let nonce = fields.nonce else { return try .json(["Username": name]) }
        let token = try await countersign.identityToken(
            user: name, nonce: try plainText(nonce, "nonce", limit: 256))
        return try .json(["Username": name, "identity_token": token])
    }

    /// The user whose name and password these are. Attempts are counted before the comparison.
    ///
    /// - Throws: `403` if they do not match, `429` after ten wrong passwords for a name.
    func authenticate(_ username: String?, _ field: String, _ password: String?) async throws -> String {
        let (name, password) = (try Self.name(username, field), try Self.password(password))
        try await attempts.count(name)
        guard try await passwords.check(password, against: try await store.password(of: name)) else {
            throw HTTPError(.forbidden, message: "\(field) and Password do not match")
        }
        await attempts.clear(name)
        return name
    }

    /// `POST /add` `AddUser`, `Message` → `200`: the other user gets a push with `AddRequest: true`, and confirms by
    /// calling it too. `404` for an unknown user.
    func add(_ fields: Fields, by user: String) async throws -> Response {
        let other = try Self.name(fields.addUser, "AddUser")
        let message = try fields.message.map { try plainText($0, "Message", limit: 200) }
        guard other != user else { throw HTTPError(.badRequest, message: "AddUser must be another user") }
        try await additions.count(user)
        switch try await store.add(other, by: user) {
        case .friendsAlready: return try .json(["state": "friends"])
        case .unknownUser: throw HTTPError(.notFound, message: "unknown user \(other)")
        case .full: throw HTTPError(.conflict, message: "too many contacts or requests")
        case .confirmed: return try .json(["state": "friends"])
        case .requested:
            // A derived id, so that a repetition does not notify again, and a failed push is retried.
            _ = try await push(
                Self.identifier("add", user, other), message ?? "\(user) wants to add you",
                from: user, to: other, more: ["AddRequest": "true"])
            return try .json(["state": "requested"])
        }
    }

    /// `POST /message` `UserTo`, `Message`, `id` → `200`; `403` if the user is not a contact; `400` if a field is
    /// missing.
    ///
    /// `delivered` is `false` for a user who has never signed in to Countersign. The `id` is a UUID: a message that is
    /// sent again under it arrives once.
    func send(_ fields: Fields, by user: String) async throws -> Response {
        let other = try Self.name(fields.userTo, "UserTo")
        let message = try plainText(fields.message, "Message", limit: 1000, allowsLines: true)
        let id = fields.id.map { UUID(uuidString: $0) } ?? UUID()
        guard let id else { throw HTTPError(.badRequest, message: "id must be a UUID") }
        guard try fields.userFrom.map({ try Self.name($0, "UserFrom") }) ?? user == user else {
            throw HTTPError(.forbidden, message: "UserFrom must be the caller")
        }
        guard try await store.areFriends(user, other) else {
            throw HTTPError(.forbidden, message: "\(other) is not one of your contacts")
        }
        try await sendings.count(user)
        let isDelivered = try await push(
            Self.identifier("message", user, id.uuidString), message, from: user, to: other)
        return try .json(["delivered": isDelivered])
    }

    /// Pushes `UserFrom` and `Message`. A lock screen shows the beginning.
    private func push(
        _ id: UUID, _ message: String, from sender: String, to recipient: String, more: [String: String] = [:]
    ) async throws -> Bool {
        let data = ["UserFrom": sender, "Message": message].merging(more) { $1 }
        return try await countersign.notify(
            recipient, id: id, title: sender, body: String(message.prefix(100)), data: data)
    }

    /// The id of a notification, derived so that users cannot choose the id of another one.
    private static func identifier(_ parts: String...) -> UUID {
        let hash = Array(SHA256.hash(data: Data(parts.joined(separator: " ").utf8)))
        return UUID(
            uuid: (
                hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], 0x80 | hash[6] & 0x0F, hash[7],
                0x80 | hash[8] & 0x3F, hash[9], hash[10], hash[11], hash[12], hash[13], hash[14], hash[15]
            ))
    }

    private static func credentials(_ fields: Fields) throws -> (name: String, password: String, device: String) {
        (try name(fields.username, "Username"), try password(fields.password), try device(fields.deviceID))
    }

    /// The ARN of an endpoint at Amazon SNS: the device registers it at Countersign for its pushes.
    private static func device(_ text: String?) throws -> String { try plainText(text, "DeviceID", limit: 512) }

    private static func password(_ text: String?) throws -> String {
        guard let text, (1...256).contains(text.utf8.count) else {
            throw HTTPError(.badRequest, message: "Password is missing or too long")
        }
        return text
    }

    /// A user name: letters of one case, so that no two look equal.
    private static func name(_ text: String?, _ field: String) throws -> String {
        let name = (text ?? "").lowercased()
        guard (1...32).contains(name.utf8.count), name.wholeMatch(of: /[a-z0-9._-]+/) != nil else {
            throw HTTPError(.badRequest, message: "\(field) must be 1 to 32 letters and digits")
        }
        return name
    }
}
