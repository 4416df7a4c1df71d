import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

@testable import API

/// Devices with sessions in all their states, to which things happen, and requests of theirs in all their forms.
final class AskedWorld {
    struct Person {
        var connection: ClientConnection
        var token: String
        var user: String
    }

    struct Asked {
        let person: Int
        let isHTTP2: Bool
        let request: WireRequest
    }

    private let fixture: ServiceFixture
    private let usualPolicy: Policy
    private var random: SeededRandom
    private(set) var people: [Person] = []
    private var signedIn = 0
    /// How many requests something that happened lasts.
    private var troubleLeft = 0
    private(set) var happened: [String: Int] = [:]
    /// Whose connections are new.
    private(set) var renewed: Set<Int> = []

    init(_ fixture: ServiceFixture, seed: UInt64) async throws {
        self.fixture = fixture
        random = SeededRandom(seed: seed)
        usualPolicy = fixture.policy[\.self]
        for _ in 0..<6 { people.append(try await signIn()) }
    }

    private func signIn() async throws -> Person {
        signedIn += 1
        let user = "user-\(signedIn)"
        let connection = try await fixture.connectNewDevice()
        let opened = try await fixture.opened(user, on: connection)
        return Person(connection: connection, token: try #require(opened.token).text.reveal(), user: user)
    }

    /// The next request; things happen between.
    func next() async throws -> Asked {
        renewed = []
        fixture.clock.advance(TimeInterval.random(in: 0...2, using: &random))
        if troubleLeft > 0 {
            troubleLeft -= 1
            if troubleLeft == 0 { try await mend() }
        } else if Int.random(in: 0..<50, using: &random) == 0 {
            troubleLeft = 12
            try await happen()
        }
        // An exchange comes from memory where nothing was written since.
        if Bool.random(using: &random) { try await fixture.watch.poll() }
        let person = Int.random(in: people.indices, using: &random)
        let (request, isOfHTTP1) = request(of: person)
        return Asked(person: person, isHTTP2: !isOfHTTP1 && Bool.random(using: &random), request: request)
    }

    private func happen() async throws {
        let person = people[Int.random(in: people.indices, using: &random)]
        let events: [(String, () async throws -> Void)] = [
            ("idle", { [self] in fixture.clock.advance(3700) }),
            ("over", { [self] in fixture.clock.advance(90_000) }),
            ("ended", { [self] in _ = try? await fixture.context.endSession(person.token, on: person.connection) }),
            (
                "challenged",
                { [self] in
                    let thief = try await fixture.connectNewDevice()
                    _ = try? await fixture.context.checkSession(person.token, on: thief)
                }
            ),
            (
                "banned",
                { [self] in
                    guard let session = try? await fixture.context.checkSession(person.token, on: person.connection)
                    else { return }
                    try await ban(session.userID)
                }
            ),
            ("revoked", { [self] in try await fixture.revokeCertificate.own(of: person.connection) }),
            (
                "moved",
                { [self] in
                    for index in people.indices {
                        people[index].connection = try await fixture.connect(people[index].connection.thumbprint)
                        renewed.insert(index)
                    }
                }
            ),
            (
                "explicit",
                { [self] in
                    try await change { $0.sessions.attach = .explicit }
                    for index in people.indices {
                        people[index].connection = try await fixture.connect(people[index].connection.thumbprint)
                        renewed.insert(index)
                    }
                }
            ),
            ("short", { [self] in try await change { $0.sessions.idleLifetime = 0.5 } }),
            ("stale", { [self] in try await change { $0.bans.maximumStaleness = 0 } }),
            ("wrong clock", { [self] in try await change { $0.bans.maximumClockDifference = -1 } }),
        ]
        let (name, event) = events[Int.random(in: events.indices, using: &random)]
        happened[name, default: 0] += 1
        try await event()
    }

    private func change(_ change: (inout Policy) -> Void) async throws {
        var policy = usualPolicy
        change(&policy)
        fixture.policy.replace(with: policy)
    }

    private func ban(_ user: UserID) async throws {
        let order = try BanOrder(
            target: .user(user.description), scope: .all, reason: try #require(Ban.Reason(rawValue: "spam")), note: nil,
            endsAt: nil, withDevices: false)
        _ = try await fixture.admin.addBan(order, by: fixture.policy[\.bans], upTo: nil)
        try await fixture.watch.poll()
    }

    /// Everything is as usual again; who has no session signs in anew, at a new device.
    private func mend() async throws {
        fixture.policy.replace(with: usualPolicy)
        for index in people.indices {
            let person = people[index]
            guard (try? await fixture.context.checkSession(person.token, on: person.connection)) == nil else {
                continue
            }
            people[index] = try await signIn()
            renewed.insert(index)
        }
    }

    // MARK: Requests

    /// A request, and whether HTTP/2 has no such form of it.
    private func request(of person: Int) -> (WireRequest, isOfHTTP1: Bool) {
        let usual = "Layer session-token=\"\(people[person].token)\""
        if Int.random(in: 0..<10, using: &random) < 7 {
            let (nonce, check) = (
                WireRequest(method: "POST", target: "/nonces"), WireRequest(fields: [("Authorization", usual)])
            )
            let forms = [nonce, check, nonce, check, exchange(people[person].token)]
            return (forms[Int.random(in: forms.indices, using: &random)], false)
        }
        let token = people[person].token
        let other = people[(person + 1) % people.count].token
        let session = [("Authorization", usual)]
        let forms: [WireRequest] =
            [
                WireRequest(fields: [("aUTHORIZATION", usual), ("Accept", "*/*"), ("X-Unknown", "1")]),
                WireRequest(fields: [("Authorization", "layer session-token='\(token)'")]),
                WireRequest(fields: [("Authorization", "Layer  session-token=\(token)")]),
                WireRequest(fields: [("Authorization", "Layer realm=\"test\", session-token=\"\(token)\"")]),
                WireRequest(fields: [("Authorization", "Layer session-token=\"\(token)\", wrong=\"1\"")]),
                WireRequest(fields: session + session),
                WireRequest(fields: [("Authorization", "Layer session-token=\"\(token.dropLast())\"")]),
                WireRequest(fields: [("Authorization", "Layer session-token=\"\(token)x\"")]),
                WireRequest(fields: [("Authorization", "Layer session-token=\"\(String(repeating: "A", count: 64))\"")]
                ),
                WireRequest(fields: [("Authorization", "Layer session-token=\"\(other)\"")]),
                WireRequest(fields: [("Authorization", "Layer export-token=\"\(token)\"")]),
                WireRequest(fields: [("Authorization", "Bearer \(token)")]),
                WireRequest(fields: [("Authorization", "")]),
                WireRequest(),
                WireRequest(target: "/sessions/current?x=1", fields: session),
                WireRequest(target: "/sessions/current/", fields: session),
                WireRequest(target: "//sessions/current", fields: session),
                WireRequest(method: "HEAD", fields: session),
                WireRequest(method: "OPTIONS"),
                WireRequest(method: "PUT", fields: session),
                WireRequest(target: "/nonces"),
                WireRequest(target: "/nowhere", fields: session),
                WireRequest(method: "POST", target: "/nonces", fields: [("Content-Length", "0")]),
                WireRequest(method: "POST", target: "/nonces", fields: [("Content-Length", "2")], body: "{}"),
                WireRequest(method: "POST", target: "/nonces", fields: session + session),
                WireRequest(fields: session + [("Expect", "100-continue"), ("Content-Length", "2")], body: "{}"),
                WireRequest(fields: session + [("Content-Length", "3")], body: "abc"),
                WireRequest(fields: session + [("If-None-Match", "*"), ("Range", "bytes=0-1")]),
            ] + exchanges(token)
        let ofHTTP1: [WireRequest] = [
            WireRequest(fields: session, version: "1.0"),
            WireRequest(fields: session + [("Connection", "close")]),
            WireRequest(fields: session + [("Connection", "keep-alive")]),
            WireRequest(fields: session + [("Connection", "Keep-Alive, x")]),
            WireRequest(fields: session + [("Connection", "keep-alive")], version: "1.0"),
            WireRequest(fields: session + [("Transfer-Encoding", "chunked")], body: "2\r\n{}\r\n0\r\n\r\n"),
            WireRequest(
                method: "POST", target: "/nonces", fields: [("Transfer-Encoding", "chunked")], body: "0\r\n\r\n"),
        ]
        let index = Int.random(in: 0..<(forms.count + ofHTTP1.count), using: &random)
        return index < forms.count ? (forms[index], false) : (ofHTTP1[index - forms.count], true)
    }

    /// An exchange of a session's token for a session JWT, of this form and with these parameters beside.
    private func exchange(
        _ token: String, for audience: String? = nil, _ more: String = "", fields: [(String, String)] = []
    ) -> WireRequest {
        let body =
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&subject_token=\(token)"
            + "&subject_token_type=urn:ietf:params:oauth:token-type:access_token"
            + "&audience=\(audience ?? fixture.registration.provider.id.description)\(more)"
        return WireRequest(
            method: "POST", target: "/token",
            fields: [("Content-Type", FormBody.mediaType), ("Content-Length", String(body.utf8.count))] + fields,
            body: body)
    }

    private func exchanges(_ token: String) -> [WireRequest] {
        let app = fixture.registration.applicationID
        return [
            exchange(token, "&client_id=\(app)"), exchange(token, "&client_id=\(UUID())"),
            exchange(token, "&scope=verified_claims"), exchange(token, "&scope=other"),
            exchange(token, "&actor_token=x"), exchange(token, "&audience=x"), exchange(token, "&%zz=1"),
            exchange(token, "&padding=" + String(repeating: "x", count: 1024)),
            exchange(token, "&requested_token_type=urn:ietf:params:oauth:token-type:saml2"),
            exchange(token, for: UUID().uuidString), exchange(token, for: "https://other.example"),
            exchange(token, for: ""), exchange(token + "x"), exchange(String(token.dropLast())),
            exchange(token, fields: [("DPoP", "e30.e30.x")]), exchange(token, fields: [("Authorization", "Bearer x")]),
            exchange(token, fields: [("Content-Type", "text/plain")]),
        ]
    }
}
