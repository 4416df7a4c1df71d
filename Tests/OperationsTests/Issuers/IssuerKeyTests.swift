import Domain
import Encoding
import Fixtures
import Foundation
import Synchronization
import Testing
import Tokens

@testable import Operations

@Suite("Keys of issuers")
struct IssuerKeyTests {
    private func refusal(_ reason: Refusal.Reason) -> Refusal { Refusal(.invalidIdentityToken, "", reason: reason) }

    /// A registered issuer, and a device that signs in by it.
    fileprivate struct World {
        let fixture: ServiceFixture
        var issuer: StandInIssuer
        let provider: ProviderID
        let connection: ClientConnection

        init(_ fixture: ServiceFixture, endingSessions: Bool = false) async throws {
            self.fixture = fixture
            issuer = StandInIssuer([("k-1", try ProviderSigner(.es256))])
            provider = try await issuer.register(on: fixture, endingSessions: endingSessions).provider.id
            connection = try await fixture.connectNewDevice()
        }

        @discardableResult
        func signIn(_ kid: String = "k-1", _ user: String = "alice") async throws -> Service.OpenedSession {
            let token = try issuer.idToken(
                user, nonce: fixture.context.issueNonce(connection).nonce, now: fixture.clock.now, kid: kid)
            return try await fixture.context.openSession(identityToken: token, applicationID: nil, on: connection)
        }

        var reads: Int { fixture.issuers.count(issuer.url) }

        /// The issuer's key set has other keys from now on.
        mutating func publish(_ keys: [(String, ProviderSigner)], cacheControl: String? = "max-age=600") throws {
            let next = StandInIssuer(keys, at: issuer.url, audience: issuer.audience)
            try next.publish(on: fixture, cacheControl: cacheControl)
            // It still has the keys of before to sign with.
            issuer.keys = next.keys + issuer.keys.filter { old in !next.keys.contains { $0.kid == old.kid } }
        }
    }

    @Test("are read again when they are fresh no more: a new one signs in, one that is gone signs nobody in")
    func rotation() async throws {
        try await ServiceFixture.run { fixture in
            var world = try await World(fixture)
            let opened = try await world.signIn()
            let secret = try #require(opened.token).text.reveal()
            try world.publish([("k-2", try ProviderSigner(.es384))])
            fixture.clock.advance(599)
            try await world.signIn()
            #expect(world.reads == 1)
            fixture.clock.advance(2)
            try await world.signIn("k-2")
            #expect(world.reads == 2)
            await #expect(throws: refusal(.keyRetired)) { try await world.signIn("k-1") }
            // What it opened goes on.
            #expect(try await fixture.context.checkSession(secret, on: world.connection).id == opened.session.id)
            try world.publish([("k-1", world.issuer.keys[1].signer)])
            fixture.clock.advance(601)
            try await world.signIn("k-1")
            await #expect(throws: refusal(.keyRetired)) { try await world.signIn("k-2") }
        }
    }

    @Test("that are unknown have the key set read at once, and once in a minute at most")
    func unknownKey() async throws {
        try await ServiceFixture.run { fixture in
            var world = try await World(fixture)
            for _ in 0..<5 { await #expect(throws: refusal(.unknownKey)) { try await world.signInAs("k-9") } }
            // The one of the registration is not a minute ago.
            #expect(world.reads == 1)
            fixture.clock.advance(60)
            try world.publish([("k-1", world.issuer.keys[0].signer), ("k-2", try ProviderSigner(.edDSA))])
            try await world.signIn("k-2")
            #expect(world.reads == 2)
            for _ in 0..<5 { await #expect(throws: refusal(.unknownKey)) { try await world.signInAs("k-9") } }
            #expect(world.reads == 2)
            fixture.clock.advance(60)
            for _ in 0..<5 { await #expect(throws: refusal(.unknownKey)) { try await world.signInAs("k-9") } }
            #expect(world.reads == 3)
        }
    }

    @Test("serve for a day while the issuer is away, on a node that was started meanwhile too, and no longer")
    func absence() async throws {
        try await ServiceFixture.run { fixture in
            let world = try await World(fixture)
            fixture.issuers.fail(world.issuer.url)
            fixture.clock.advance(3600)
            try await world.signIn()
            try await world.signIn()
            #expect(world.reads == 2)
            fixture.clock.advance(86_400 - 3600)
            let node = ServingNode(caches: Caches(store: fixture.store))
            let token = try world.issuer.idToken(
                "bob", nonce: fixture.context.issueNonce(world.connection).nonce, now: fixture.clock.now)
            _ = try await fixture.context(node: node).openSession(
                identityToken: token, applicationID: nil, on: world.connection)
            fixture.clock.advance(1)
            await #expect(throws: refusal(.unknownKey)) { try await world.signIn() }
            try world.issuer.publish(on: fixture)
            fixture.clock.advance(60)
            try await world.signIn()
        }
    }

    @Test("are not taken from what is no key set, and those that are known serve on")
    func poisoned() async throws {
        try await ServiceFixture.run { fixture in
            let world = try await World(fixture)
            let twice = #"{"keys":[{"kid":"k"},{"kid":"k"}],"keys":[]}"#
            for text in ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":1}"#, twice, "{\"keys\":[]} x"] {
                fixture.issuers.serve(text, for: world.issuer.url)
                fixture.clock.advance(601)
                try await world.signIn()
            }
            #expect(world.reads == 8)
            let failure = try await fixture.admin.issuerReadings()[world.issuer.url]?.failure
            #expect(failure == "The key set is not a JSON object with keys.")
            // An empty one is: the issuer takes all of its keys back.
            fixture.issuers.serve(#"{"keys":[]}"#, for: world.issuer.url)
            fixture.clock.advance(601)
            await #expect(throws: refusal(.keyRetired)) { try await world.signIn() }
        }
    }

    @Test("are read by one node at a time, once for all that wait, and a request that gives up takes it from no other")
    func oneAtATime() async throws {
        try await ServiceFixture.run { fixture in
            var world = try await World(fixture)
            try world.publish([("k-2", try ProviderSigner(.es256))])
            fixture.clock.advance(700)
            let gate = Gate()
            fixture.issuers.hold { await gate.wait() }
            let ready = world
            let impatient = Task { try await ready.signIn("k-2", "impatient") }
            let waiting = (0..<10).map { index in Task { try await ready.signIn("k-2", "user \(index)") } }
            await gate.awaitArrival()
            // Another node leaves it to this one, and another provider's users wait for nothing.
            let other = fixture.context(node: ServingNode(caches: Caches(store: fixture.store)))
            _ = try await IssuerKeys(other).refresh(world.issuer.url)
            _ = try await fixture.opened("plain", on: try await fixture.connectNewDevice())
            impatient.cancel()
            await gate.open()
            for task in waiting { _ = try await task.value }
            #expect(world.reads == 2)
        }
    }

    @Test("are awaited by a request that learns of the try from the store")
    func joinsTry() async throws {
        try await ServiceFixture.run { fixture in
            var world = try await World(fixture)
            try world.publish([("k-2", try ProviderSigner(.es256))])
            fixture.clock.advance(700)
            let gate = Gate()
            fixture.issuers.hold { await gate.wait() }
            let ready = world
            let first = Task { try await ready.signIn("k-2", "first") }
            await gate.awaitArrival()
            let issuers = fixture.context.caches.issuers
            issuers.dropAll()
            let second = Task { try await ready.signIn("k-2", "second") }
            for _ in 0..<12000 where issuers.reading(of: world.issuer.url) == nil {
                try await Task.sleep(for: .milliseconds(10))
            }
            await gate.open()
            _ = try await (first.value, second.value)
            #expect(world.reads == 2)
        }
    }

    @Test("that leave end the sessions that they opened, if the provider was registered so", arguments: [false, true])
    func endedSessions(isEnding: Bool) async throws {
        try await ServiceFixture.run { fixture in
            var world = try await World(fixture, endingSessions: isEnding)
            let opened = try await world.signIn()
            try world.publish([("k-2", try ProviderSigner(.es256))])
            fixture.clock.advance(601)
            #expect(try await RefreshIssuers(fixture.context)().count == 1)
            let session = try await fixture.admin.readSession(opened.session.id)
            let token = try #require(opened.token).text.reveal()
            if isEnding {
                await #expect(throws: Refusal(.sessionDestroyed, "")) {
                    try await fixture.context.checkSession(token, on: world.connection)
                }
            } else {
                #expect(try await fixture.context.checkSession(token, on: world.connection).id == session.id)
            }
        }
    }

    @Test("that an admin revoked stay refused in the key set; they can be retired by the issuer alone")
    func revoked() async throws {
        try await ServiceFixture.run { fixture in
            let world = try await World(fixture)
            let key = try #require(try await fixture.admin.readProvider("idp-example").keys.first)
            #expect(key.origin == .issuer && key.issuerKeyID == "k-1")
            await #expect(throws: Refusal(.conflict, "", state: "added_by_issuer")) {
                try await fixture.admin.retireProviderKey(key.id)
            }
            try await fixture.revokeKeyByAdmin(key.id, endingSessions: false)
            for _ in 0..<2 {
                await #expect(throws: refusal(.keyRetired)) { try await world.signIn() }
                fixture.clock.advance(3601)
            }
        }
    }

    @Test("are no more than 256 of one issuer, however fast it makes new ones")
    func bound() async throws {
        try await ServiceFixture.run { fixture in
            var world = try await World(fixture)
            let old = world.issuer.keys[0].signer
            for round in 0..<5 {
                let new = try (0..<60).map { ("r\(round)-\($0)", try ProviderSigner(.edDSA)) }
                try world.publish([("k-1", old)] + new)
                fixture.clock.advance(3601)
                try await RefreshIssuers(fixture.context)()
            }
            let kept = try await fixture.admin.readProvider("idp-example").keys
            // There was no room for the new ones; those that left are retired in any case.
            #expect(kept.count == 241 && kept.filter { $0.retiredAt == nil }.map(\.issuerKeyID) == ["k-1"])
            let failure = try await fixture.admin.issuerReadings()[world.issuer.url]?.failure
            #expect(failure == "The issuer had more than 256 keys lately.")
            try await world.signIn()
            fixture.clock.advance(31 * 86_400)
            try await RefreshIssuers(fixture.context)()
            #expect(try await fixture.admin.readProvider("idp-example").keys.count <= 121)
        }
    }

    @Test("of several issuers are read by turns, and one that cannot be read keeps no other waiting")
    func turns() async throws {
        try await ServiceFixture.run { fixture in
            let signer = try ProviderSigner(.es256)
            let issuers = (0..<12).map { StandInIssuer([("k", signer)], at: "https://idp-\($0).example") }
            for issuer in issuers { _ = try await issuer.register(on: fixture) }
            for issuer in issuers.prefix(6) { fixture.issuers.fail(issuer.url) }
            fixture.clock.advance(601)
            #expect(try await RefreshIssuers(fixture.context)().count == 12)
            #expect(try await RefreshIssuers(fixture.context)().count == 0)
            fixture.clock.advance(60)
            #expect(try await RefreshIssuers(fixture.context)().count == 6)
            #expect(
                issuers.map { fixture.issuers.count($0.url) } == Array(repeating: 3, count: 6)
                    + Array(repeating: 2, count: 6))
        }
    }
}

extension IssuerKeyTests.World {
    /// A sign-in by a key that the issuer does not have, under a name that it does not have.
    fileprivate func signInAs(_ kid: String) async throws {
        let token = try issuer.idToken(
            "alice", nonce: fixture.context.issueNonce(connection).nonce, now: fixture.clock.now
        ) {
            $0[header: "kid"] = .string(kid)
        }
        _ = try await fixture.context.openSession(identityToken: token, applicationID: nil, on: connection)
    }
}

/// Something that readings wait for.
private actor Gate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var arrivals: [CheckedContinuation<Void, Never>] = []
    private var hasArrived = false

    func wait() async {
        hasArrived = true
        for arrival in arrivals { arrival.resume() }
        arrivals = []
        guard !isOpen else { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Returns when the first one waits.
    func awaitArrival() async {
        guard !hasArrived else { return }
        await withCheckedContinuation { arrivals.append($0) }
    }

    func open() {
        isOpen = true
        for one in waiting { one.resume() }
        waiting = []
    }
}
