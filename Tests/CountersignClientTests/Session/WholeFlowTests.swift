import CountersignClient
import Fixtures
import Foundation
import Testing

/// Two people with two devices, from nothing to a permission.
@Suite("An app of the SDK")
struct WholeFlowTests {
    /// Signs a user in and proves the phone number and the card.
    private func verified(
        _ service: LiveService, _ name: String, number: String, document: String
    ) async throws -> (App, Session) {
        let app = try App(service.service())
        try await app.client.certify()
        let session = try await app.client.signIn(service.source(name))
        #expect(session.assurance == .none)
        let verification = try await app.client.phone.start(number)
        // Two starts are one: an answer may have been lost.
        #expect(try await app.client.phone.start(number) == verification)
        let code = try await service.code(textedTo: number)
        #expect(try await app.client.phone.check(code, of: verification) == .phone)
        var card = try #require(CardSpecimen("VA"))
        (card.number, card.family) = (document, "SPECIMEN" + name.uppercased())
        let result = try await app.client.card.submit(.aamva(card.text))
        #expect(result.status == "verified" && result.assurance == .barcode, "\(result)")
        #expect(try await app.client.card.result(result.id).checks.count == result.checks.count)
        return (app, session)
    }

    @Test("certifies, signs in, proves phone and card, and gets permission of another user")
    func whole() async throws {
        let service = try await LiveService()
        let (alice, aliceSession) = try await verified(service, "alice", number: "+14155550101", document: "T64235701")
        let (bob, bobSession) = try await verified(service, "bob", number: "+14155550102", document: "T64235702")
        #expect(aliceSession.address == "devices/alice")

        let profile = try await bob.client.profile()
        #expect(profile.assurance == .barcode && profile.phoneNumber == "+14155550102")

        let id = try await alice.client.permissions.ask("devices/bob")
        #expect(try await alice.client.permissions.ask("devices/bob", id: id) == id)
        let asked = try await bob.client.permissions.list(.incoming, state: .requested)
        #expect(asked.authorizations.map(\.id) == [id] && asked.cursor == nil)
        #expect(asked.authorizations.first?.partner?.initials?.isEmpty == false)
        #expect(try await bob.client.permissions.answer(id, .approval).state == .approved)
        let grant = "\(aliceSession.userID.uuidString) -> \(bobSession.userID.uuidString)".lowercased()
        var found: [String?] = []
        for try await permission in alice.client.permissions.grants { found.append(permission.grant) }
        #expect(found == [grant])
        #expect(try await alice.client.permissions.show(id).grant == grant)

        try await bob.client.permissions.block(aliceSession.userID)
        #expect(try await alice.client.permissions.show(id).state == .cancelled)
        try await bob.client.permissions.unblock(aliceSession.userID)

        await expectRefusal(.conflict) { _ = try await bob.client.permissions.answer(id, .approval) }
        await expectRefusal(.notFound) { _ = try await bob.client.permissions.show(UUID()) }
    }

    @Test("goes on with the session after a restart, on other connections, and ends it for good")
    func restart() async throws {
        let service = try await LiveService()
        let first = try App(service.service())
        let device = try await first.client.certify()
        let session = try await first.client.signIn(service.source("alice"))
        let second = try App(service.service(), directory: first.directory)
        #expect(try await second.client.device == device)
        #expect(try await second.client.certify() == device)
        #expect(try await second.client.resume().id == session.id)
        try await second.client.act()
        try await first.client.signOut()
        await expectRefusal(.sessionDestroyed) { try await second.client.act() }
        do throws(Refusal) {
            try await second.client.act()
            Issue.record("a call without a session")
        } catch {
            guard case .signedOut = error else { throw error }
        }
        #expect(try await second.client.session == nil)
    }

    @Test("signs out everywhere: the sessions of the user's other devices end, another user's stay")
    func everywhere() async throws {
        let service = try await LiveService()
        let (phone, tablet, other) = (
            try App(service.service()), try App(service.service()), try App(service.service())
        )
        for (app, user) in [(phone, "alice"), (tablet, "alice"), (other, "bob")] {
            try await app.client.certify()
            try await app.client.signIn(service.source(user))
        }
        try await phone.client.signOut(everywhere: true)
        #expect(try await phone.client.session == nil)
        try await other.client.act()
        // The tablet's app proves the identity again by itself, and has another session.
        try await tablet.client.act()
        #expect(tablet.count("/sessions/current", status: 401) == 1 && tablet.count("/sessions", status: 201) == 2)
    }

    @Test("says in what state it is, to every reader")
    func states() async throws {
        let service = try await LiveService()
        let app = try App(service.service())
        let (one, two) = (app.client.states, app.client.states)
        try await app.client.certify()
        try await app.client.signIn(service.source("alice"))
        let wanted: [State] = [.uncertified, .disconnected, .connected(.unauthenticated), .connected(.authenticated)]
        for states in [one, two] {
            var found: [State] = []
            for await state in states {
                found.append(state)
                if found.count == wanted.count { break }
            }
            #expect(found == wanted)
        }
        try await service.admin("certificate", "revoke", try #require(await app.client.device?.serial))
        #expect(try await app.refusal().problem?.code == .certificateRevoked)
        #expect(try await app.client.device == nil)
        var last: State?
        for await state in app.client.states {
            last = state
            break
        }
        #expect(last == .uncertified)
        // Another key, and another certificate.
        try await app.client.certify()
        try await app.client.signIn(service.source("alice"))
        try await app.client.act()
    }

    @Test("has tokens for its backend: one request for all who ask at once, a proof for each request")
    func accessTokens() async throws {
        let service = try await LiveService()
        let app = try App(service.service())
        try await app.client.certify()
        try await app.client.signIn(service.source("alice"))
        let audience = service.provider
        let values = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await app.client.accessToken(for: audience).value } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(values.count == 1 && app.count("/token") == 1)
        let token = try await app.client.accessToken(for: audience)
        let url = try #require(URL(string: "https://shop.example/cart?item=1"))
        let headers = [try await token.headers(for: "GET", url), try await token.headers(for: "GET", url)]
        #expect(headers[0]["Authorization"] == "DPoP \(token.value)" && headers[0]["DPoP"] != headers[1]["DPoP"])
        await expectRefusal(.malformedRequest) { _ = try await app.client.accessToken(for: "https://other.example") }
    }
}

/// Expects a refusal of the service with a code.
func expectRefusal(
    _ code: Problem.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async {
    do {
        try await body()
        Issue.record("not refused", sourceLocation: sourceLocation)
    } catch {
        let problem = (error as? Refusal)?.problem
        #expect(problem?.code == code, "\(error)", sourceLocation: sourceLocation)
    }
}
