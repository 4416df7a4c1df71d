import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Operations
import Testing

@testable import API

/// A user at a device, signed in.
struct SignedIn: Sendable {
    let bench: RouterBench
    let connection: ClientConnection
    let session: Session
    let token: String
    let user: String

    /// A request of the session's.
    func send(_ call: String, json: String? = nil, from address: String = "192.0.2.1") async throws -> Reply {
        try await bench.client(
            call, json: json, authorization: "Layer session-token=\"\(token)\"", on: connection, from: address)
    }
}

/// What tests do before the call that they are about.
extension RouterBench {
    /// A request on the client listener.
    func client(
        _ call: String, json: String? = nil, authorization: String? = nil, on connection: ClientConnection,
        from address: String = "192.0.2.1"
    ) async throws -> Reply {
        var headers = HTTPFields()
        headers[.authorization] = authorization
        if json != nil { headers[.contentType] = "application/json" }
        return try await send(
            .client, call, headers: headers, body: json.map { RequestBody(buffer: ByteBuffer(string: $0)) },
            on: connection, from: address)
    }

    /// A request on the public listener.
    func open(
        _ call: String, body: String? = nil, type: String = "application/json", bearer: String? = nil,
        from address: String = "192.0.2.1"
    ) async throws -> Reply {
        var headers = HTTPFields()
        headers[.authorization] = bearer.map { "Bearer \($0)" }
        if body != nil { headers[.contentType] = type }
        return try await send(
            .public, call, headers: headers, body: body.map { RequestBody(buffer: ByteBuffer(string: $0)) },
            from: address)
    }

    /// A bearer token of the provider's first key.
    func bearer() throws -> String {
        try fixture.signer.providerToken(
            provider: fixture.registration.provider.id, kid: fixture.registration.keyID, realm: ServiceFixture.realm,
            now: fixture.clock.now)
    }

    /// A call of the provider's, with a bearer token.
    func provider(_ call: String, body: String? = nil, type: String = "application/json") async throws -> Reply {
        try await open(call, body: body, type: type, bearer: try bearer())
    }

    /// A proof that is made for one call.
    func proof(_ method: String, _ path: String, _ body: String) throws -> String {
        try fixture.signer.freshProviderToken(
            provider: fixture.registration.provider.id, kid: fixture.registration.keyID, realm: ServiceFixture.realm,
            identifier: UUID().uuidString,
            request: ProvenRequest(method: method, path: path, query: nil, body: Array(body.utf8)),
            now: fixture.clock.now)
    }

    /// A call of the provider's, with a proof that is made for it.
    func proven(_ call: String, body: String? = nil) async throws -> Reply {
        let words = call.split(separator: " ").map(String.init)
        let made = try proof(words[0], words[1], body ?? "")
        return try await open(call, body: body, bearer: made)
    }

    /// Signs a user in at a new device.
    func signIn(_ user: String = "alice") async throws -> SignedIn {
        let connection = try await fixture.connectNewDevice()
        let opened = try await fixture.opened(user, on: connection)
        return SignedIn(
            bench: self, connection: connection, session: opened.session,
            token: try #require(opened.token).text.reveal(), user: user)
    }

    /// Starts a proof; its id.
    func startPhone(_ number: String, _ person: SignedIn) async throws -> String {
        let reply = try await person.send("POST /phone-verifications", json: #"{"phone_number":"\#(number)"}"#)
        #expect(reply.status == 202, "\(reply)")
        return try #require(reply.text("id"))
    }

    /// The code as only the service can know it.
    func code(_ id: String, _ number: String, _ person: SignedIn) throws -> String {
        let id = try #require(PhoneVerificationID(id[...]))
        return try #require(
            codes.code(
                version: 1, verification: id, user: person.session.userID, device: person.session.deviceID,
                e164: number, digits: 6)
        ).digits.reveal()
    }

    /// Proves a number.
    @discardableResult
    func prove(_ number: String, _ person: SignedIn) async throws -> Reply {
        let id = try await startPhone(number, person)
        return try await person.send(
            "POST /phone-verifications/\(id)/check", json: #"{"code":"\#(try code(id, number, person))"}"#)
    }

    /// A card's barcode as the body of a request.
    static func card(_ number: String = "T64225789", change: (inout CardSpecimen) -> Void = { _ in }) throws -> String {
        var specimen = try #require(CardSpecimen("VA"))
        specimen.number = number
        change(&specimen)
        return #"{"aamva":"\#(Data(specimen.bytes).base64EncodedString())"}"#
    }

    /// Signs a user in whose number and card are proven.
    func verified(_ user: String, _ number: Int) async throws -> SignedIn {
        let person = try await signIn(user)
        let proven = try await prove("+1415555\(2000 + number)", person)
        #expect(proven.status == 200, "\(proven)")
        let shown = try await person.send(
            "POST /identity-cards",
            json: try Self.card("T6423578\(number)") { specimen in
                specimen.family = "SAMPLE\(user.uppercased())"
            })
        #expect(shown.status == 201, "\(shown)")
        return person
    }

    /// Bans a user, as another process does.
    func ban(_ person: SignedIn) async throws {
        try await ban(.user(person.session.userID.description))
    }

    func ban(_ target: BanTarget) async throws {
        let order = try BanOrder(
            target: target, scope: .all,
            reason: try #require(Ban.Reason(rawValue: "spam")),
            note: nil, endsAt: nil, withDevices: false)
        _ = try await fixture.admin.addBan(order, by: fixture.policy[\.bans], upTo: nil)
        try await fixture.watch.poll()
    }

    /// Asks for permission; the id.
    func askPermission(_ from: SignedIn, _ to: SignedIn) async throws -> String {
        let id = UUID().uuidString.lowercased()
        let reply = try await from.send(
            "POST /authorizations", json: #"{"id":"\#(id)","to":"\#(to.session.userID)"}"#)
        #expect(reply.status == 201, "\(reply)")
        return id
    }
}
