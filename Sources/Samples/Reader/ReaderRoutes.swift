import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import SampleBackend

/// Log-in and personal data. There is no registration: an account exists before the first sign-in.
struct ReaderRoutes: Sendable {
    let store: ReaderStore
    let countersign: CountersignCalls
    let verify: SessionVerifier
    private let passwords: Passwords
    private let attempts = Limiter(10, per: 900)
    /// A former name stays reserved, so a person has few.
    private let renames = Limiter(3, per: 86_400)

    init(store: ReaderStore, passwords: Passwords, countersign: CountersignCalls, verify: SessionVerifier) {
        (self.store, self.passwords, self.countersign, self.verify) = (store, passwords, countersign, verify)
    }

    /// The routes of the plain listener, before there is a session.
    func accounts() -> Router<SampleContext> {
        let router = Router(context: SampleContext.self)
        router.post("register") { _, _ -> Response in
            throw HTTPError(.forbidden, message: "accounts are created by staff: ask the volunteer coordinator")
        }
        router.post("password", use: setPassword)
        router.post("login", use: logIn)
        return router
    }

    /// The routes of the device listener.
    func personal() -> Router<SampleContext> {
        let router = Router(context: SampleContext.self)
        router.get("me") { request, context in
            let caller = try await verify(request, context)
            return try await shown(caller)
        }
        router.patch("me", use: change)
        router.put("me/username", use: rename)
        router.get("me/changes") { request, context in
            let caller = try await verify(request, context)
            return try Response.json(try await store.changes(of: caller.user))
        }
        return router
    }

    private struct Fields: Decodable { let username, password, code, nonce: String? }

    /// `POST /password` `username`, `code`, `password` → `200`: the first password, or a new one after staff's reset.
    @Sendable private func setPassword(_ request: Request, _ context: SampleContext) async throws -> Response {
        let fields = try await request.decode(as: Fields.self, context: context)
        let (username, password) = try Self.credentials(fields)
        guard password.count >= 12 else { throw HTTPError(.badRequest, message: "password needs 12 characters") }
        let code = fields.code ?? ""
        try await attempts.count("code \(username)")
        guard try await store.take(code: code, of: username),
            try await store.setPassword(try await passwords.hash(password), code: code, of: username)
        else { throw HTTPError(.forbidden, message: "the code is wrong, used or expired: ask staff for a new one") }
        return try .json(["username": username])
    }

    /// `POST /login` `username`, `password`, `nonce` → `identity_token`; `403` if they do not match. The app then opens
    /// a session at Countersign, and shows no log-in view as long as it is valid.
    @Sendable private func logIn(_ request: Request, _ context: SampleContext) async throws -> Response {
        let fields = try await request.decode(as: Fields.self, context: context)
        let (username, password) = try Self.credentials(fields)
        let nonce = try plainText(fields.nonce, "nonce", limit: 256)
        try await attempts.count("login \(username)")
        let known = try await store.password(of: username)
        guard try await passwords.check(password, against: known?.hash), let known else {
            throw HTTPError(.forbidden, message: "username and password do not match")
        }
        await attempts.clear("login \(username)")
        return try .json(["identity_token": try await countersign.identityToken(user: known.id, nonce: nonce)])
    }

    /// `PUT /me/username` `username`, `password` → all fields; `403` if the password is wrong, `409` if the name is
    /// taken. The user name logs in, so a session alone does not change it.
    @Sendable private func rename(_ request: Request, _ context: SampleContext) async throws -> Response {
        let caller = try await verify(request, context)
        let fields = try await request.decode(as: Fields.self, context: context)
        let name = try Person.parse(fields.username, "username")
        guard let password = fields.password, (1...256).contains(password.utf8.count) else {
            throw HTTPError(.badRequest, message: "password is missing or too long")
        }
        let known = try await person(caller).username
        try await attempts.count("login \(known)")
        guard try await passwords.check(password, against: try await store.password(of: known)?.hash) else {
            throw HTTPError(.forbidden, message: "the password is wrong")
        }
        await attempts.clear("login \(known)")
        try await renames.count(caller.user)
        do {
            try await store.rename([(from: known, to: name)], by: known)
        } catch let conflict as ReaderStore.NameConflict {
            throw HTTPError(.conflict, message: conflict.reason)
        }
        return try await shown(caller)
    }

    /// `PATCH /me` with some of a person's own fields → all of them. Staff change the groups.
    @Sendable private func change(_ request: Request, _ context: SampleContext) async throws -> Response {
        let caller = try await verify(request, context)
        let given = try await request.decode(as: [String: String].self, context: context)
        if let wrong = given.keys.sorted().first(where: { !Person.ownFields.contains($0) }) {
            let way = wrong == "username" ? "by PUT /me/username" : "by staff"
            throw HTTPError(.forbidden, message: "\(wrong) can only be changed \(way)")
        }
        let changed = try await person(caller).changed(given)
        try await store.change(caller.user, to: changed, by: changed.username)
        return try await shown(caller)
    }

    private func shown(_ caller: Caller) async throws -> Response {
        guard let profile = try await store.profile(caller.user) else { throw HTTPError(.forbidden) }
        return try .json(profile)
    }

    private func person(_ caller: Caller) async throws -> Person {
        guard let person = try await store.person(caller.user) else { throw HTTPError(.forbidden) }
        return person
    }

    private static func credentials(_ fields: Fields) throws -> (username: String, password: String) {
        let username = (fields.username ?? "").lowercased()
        guard (1...200).contains(username.utf8.count), !username.utf8.contains(0) else {
            throw HTTPError(.badRequest, message: "username is missing or too long")
        }
        guard let password = fields.password, (1...256).contains(password.utf8.count) else {
            throw HTTPError(.badRequest, message: "password is missing or too long")
        }
        return (username, password)
    }
}
