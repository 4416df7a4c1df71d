import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing
import Tokens

@testable import Operations

@Suite("Keys of providers")
struct ProviderKeyTests {
    private let ended = Refusal(.providerTokenInvalid, "")

    /// A provider's backend with a key of its own.
    private struct Backend {
        let signer: ProviderSigner
        let keyID: ProviderKeyID
        let fixture: ServiceFixture

        var proven: Service.FreshProof {
            get async throws { try await fixture.proof(of: signer, keyID) }
        }

        /// Adds a key over HTTP, signed for by this one.
        func add() async throws -> Backend {
            let (signer, provider) = (try ProviderSigner(.es256), fixture.registration.provider.id)
            let id = try await fixture.context.addOwnKey(
                keyText: signer.publicKeyPEM, algorithm: nil,
                proof: try signer.possessionProof(provider: provider, now: fixture.clock.now), by: proven)
            fixture.clock.advance(1)
            return Backend(signer: signer, keyID: id, fixture: fixture)
        }

        /// Opens a session of a user.
        func opened(_ user: String) async throws -> Service.OpenedSession {
            let connection = try await fixture.connectNewDevice()
            let token = try signer.identityToken(
                provider: fixture.registration.provider.id, kid: keyID, externalID: user,
                nonce: fixture.context.issueNonce(connection).nonce, now: fixture.clock.now)
            return try await fixture.context.openSession(identityToken: token, applicationID: nil, on: connection)
        }

        /// Tells that a user's sessions are over, by a Security Event Token.
        func logout(_ user: String) throws -> String {
            let provider = fixture.registration.provider.id
            func text(_ pairs: KeyValuePairs<String, String>) -> JSONValue {
                .object(pairs.map { JSONMember(name: $0.key, value: .string($0.value)) })
            }
            var draft = TokenDraft(header: [JSONMember(name: "alg", value: .string("ES256"))])
            draft[header: "typ"] = .string("secevent+jwt")
            draft[header: "kid"] = .string(keyID.description)
            draft[claim: "iss"] = .string(provider.description)
            draft[claim: "aud"] = .string(ServiceFixture.realm)
            draft[claim: "iat"] = .integer(Int64(fixture.clock.now.timeIntervalSince1970))
            draft[claim: "jti"] = .string(UUID().uuidString)
            draft[claim: "sub_id"] = text(["format": "iss_sub", "iss": provider.description, "sub": user])
            draft[claim: "events"] = .object([
                JSONMember(name: ProviderEvent.sessionRevokedType, value: .object([]))
            ])
            return try signer.sign(draft)
        }
    }

    private func first(_ fixture: ServiceFixture) -> Backend {
        Backend(signer: fixture.signer, keyID: fixture.registration.keyID, fixture: fixture)
    }

    private func keys(_ fixture: ServiceFixture) async throws -> [ProviderKeyRecord] {
        let id = fixture.registration.provider.id
        return try await fixture.store.read { try ProviderKeyRepository($0).list(of: id) }
    }

    private func entries(on subject: String, _ fixture: ServiceFixture) async throws -> [String] {
        try await fixture.store.read { transaction in
            try transaction.query(
                "SELECT event, detail FROM audit_entries WHERE subject = $1 ORDER BY at, id", [.text(subject)]
            ).map { "\(try $0.text(0)): \(try $0.textOrNull(1) ?? "-")" }
        }
    }

    @Test(
        "A key that was revoked or retired, or whose provider was disabled, after its proof was read changes nothing",
        arguments: ["revoked", "retired", "disabled"])
    func heldBack(how: String) async throws {
        try await ServiceFixture.run { fixture in
            let backend = try await first(fixture).add()
            let opened = try await backend.opened("alice")
            let session = opened.session
            _ = try await fixture.context.setWebhook(
                "https://receiver.invalid/", by: try await backend.proven, allowingLoopback: false)
            let proven = try await backend.proven
            let event = try backend.logout("alice")
            // Another process does it: this one's memory has not heard of it.
            switch how {
            case "revoked":
                try await fixture.admin.revokeProviderKey(backend.keyID, endingSessions: false)
            case "retired": try await fixture.admin.retireProviderKey(backend.keyID)
            default:
                let id = fixture.registration.provider.id
                try await fixture.store.write { try ProviderRepository($0).setDisabled(id, at: $0.now) }
            }
            let before = try await keys(fixture)
            let stream = EventStream(
                id: EventStreamID(UUID()), provider: proven.id, settings: EventStream.Settings(delivery: .poll),
                createdAt: fixture.clock.now, approvedURL: nil)
            try await fixture.store.write { try EventStreamRepository($0).save(stream) }

            let fresh = try ProviderSigner(.es256)
            await #expect(throws: ended) {
                try await fixture.context.addOwnKey(
                    keyText: fresh.publicKeyPEM, algorithm: nil,
                    proof: try fresh.possessionProof(provider: proven.id, now: fixture.clock.now), by: proven)
            }
            await #expect(throws: ended) {
                try await fixture.context.revokeOwnKey(
                    backend.keyID, endingSessions: true, by: proven)
            }
            await #expect(throws: ended) {
                _ = try await fixture.context.setWebhook("https://other.invalid/", by: proven, allowingLoopback: false)
            }
            await #expect(throws: ended) { try await fixture.context.removeWebhook(by: proven) }
            await #expect(throws: ended) { try await fixture.context.endUserSessions(of: "alice", at: proven.provider) }
            await #expect(throws: ended) { try await fixture.context.receiveProviderEvent(event, at: .free) }
            for received in [[], [OutboxMessageID(UUID())]] {
                let question = EventPoll(maximum: nil, isImmediate: true, received: received, refused: [])
                await #expect(throws: ended) {
                    _ = try await fixture.context.pollEvents(question, of: stream.id, by: proven.provider)
                }
            }
            await #expect(throws: ended) {
                try await fixture.context.verifyEventStream(stream.id, state: nil, by: proven.provider)
            }
            // It learns nothing either, not even that a token is nobody's.
            for token in [try #require(opened.token).text.reveal(), "x"] {
                await #expect(throws: ended) { _ = try await fixture.context.introspect(token, for: proven.provider) }
                await #expect(throws: ended) {
                    _ = try await fixture.context.checkIdentityToken(token, for: proven.provider)
                }
            }
            #expect(try await keys(fixture) == before)
            #expect(try await fixture.context.webhook(of: proven.id) == "https://receiver.invalid/")
            let state = try await fixture.store.read { try SessionRepository($0).find(session.id)?.state }
            #expect(state == .authenticated)
        }
    }

    @Test("A provider adds keys itself up to a number, revoked ones included; the operator adds further ones")
    func full() async throws {
        try await ServiceFixture.run { fixture in
            let backend = first(fixture)
            let provider = fixture.registration.provider.id
            let held = try await keys(fixture).count
            let records = try (held..<255).map { _ in
                let key = try ProviderSigner(.es256).verificationKey
                return ProviderKeyRecord(
                    id: ProviderKeyID(UUID()), providerID: provider, algorithm: key.algorithm.rawValue,
                    subjectPublicKeyInfo: key.subjectPublicKeyInfo, origin: .provider, addedBy: backend.keyID,
                    createdAt: fixture.clock.now, retiredAt: nil, revokedAt: fixture.clock.now)
            }
            try await fixture.store.write { transaction in
                for record in records { _ = try ProviderKeyRepository(transaction).insert(record) }
            }
            _ = try await backend.add()
            await #expect(throws: Refusal(.conflict, "", state: "full")) { _ = try await backend.add() }
            #expect(try await keys(fixture).count == 256)
            _ = try await fixture.admin.addProviderKey(try ProviderSigner(.es256).verificationKey, to: provider)
            #expect(try await keys(fixture).count == 257)
        }
    }

    @Test("A key knows the key that added it, and takes what it added with it, sessions too; others stay")
    func descendants() async throws {
        try await ServiceFixture.run { fixture in
            let admin = first(fixture)
            // Keys are listed by the time of their making.
            fixture.clock.advance(1)
            let leaked = try await admin.add()
            let child = try await leaked.add()
            let grandchild = try await child.add()
            let sibling = try await admin.add()
            let added = try await keys(fixture).map(\.addedBy)
            #expect(added == [nil, admin.keyID, leaked.keyID, child.keyID, admin.keyID])
            let stolen = [try await leaked.opened("a").session, try await grandchild.opened("b").session]
            let kept = try await sibling.opened("c").session

            let done = try await fixture.context.revokeOwnKey(
                leaked.keyID, endingSessions: true, by: try await sibling.proven)
            #expect(done.keys == [leaked.keyID, child.keyID, grandchild.keyID])
            #expect(done.sessionsEnded == nil)
            for backend in [leaked, child, grandchild] {
                await #expect(throws: ended) { _ = try await backend.proven }
            }
            _ = try await sibling.proven
            let states = try await fixture.store.read { transaction in
                try (stolen + [kept]).map { try SessionRepository(transaction).find($0.id)?.state }
            }
            #expect(states == [.unauthenticated, .unauthenticated, .authenticated])
            #expect(
                try await entries(on: "key \(grandchild.keyID)", fixture) == [
                    "provider_key_added: provider \(fixture.registration.provider.id), signed by key \(child.keyID)",
                    "provider_key_revoked: its sessions end, added by way of key \(leaked.keyID), signed by key "
                        + "\(sibling.keyID)",
                ])
        }
    }

    @Test("A revocation and a disabling are foreseen without a change: keys, sessions, and whether a key is left")
    func foreseen() async throws {
        try await ServiceFixture.run { fixture in
            let admin = first(fixture)
            let added = try await admin.add()
            _ = try await admin.opened("a")
            _ = try await added.opened("b")
            let before = try await keys(fixture)
            let one = try await fixture.admin.previewRevocation(of: added.keyID, endingSessions: true)
            #expect(one.keys == [added.keyID] && one.sessionsEnded?.count == 1 && !one.leavesNoKey)
            let all = try await fixture.admin.previewRevocation(of: admin.keyID, endingSessions: true)
            #expect(all.keys == [admin.keyID, added.keyID] && all.sessionsEnded?.count == 2 && all.leavesNoKey)
            let kept = try await fixture.admin.previewRevocation(
                of: admin.keyID, endingSessions: false, keepingAdded: true)
            #expect(kept.keys == [admin.keyID] && kept.sessionsEnded?.count == 0 && !kept.leavesNoKey)
            #expect(try await fixture.admin.previewDisabling("test").sessions.count == 2)
            #expect(try await keys(fixture) == before)
            #expect(try await fixture.store.read { try SessionRepository($0).listOpen(limit: 9) }.count == 2)

            #expect(try await fixture.admin.revokeProviderKey(admin.keyID, endingSessions: true).leavesNoKey)
            // Nothing is left that could be taken.
            #expect(try await !fixture.admin.previewRevocation(of: admin.keyID, endingSessions: true).leavesNoKey)
        }
    }

    @Test("An admin who replaces a key may leave what it added; a provider keeps a key that counts")
    func kept() async throws {
        try await ServiceFixture.run { fixture in
            let admin = first(fixture)
            let old = try await admin.add()
            let new = try await old.add()
            try await fixture.revokeKeyByAdmin(
                admin.keyID, endingSessions: false, keepingAdded: true)
            _ = try await new.proven
            // Of the two that are left one takes the other with it.
            let proven = try await new.proven
            await #expect(throws: Refusal(.conflict, "")) {
                try await fixture.context.revokeOwnKey(
                    old.keyID, endingSessions: false, by: proven)
            }
            _ = try await old.proven
            try await fixture.context.revokeOwnKey(
                new.keyID, endingSessions: false, by: try await old.proven)
            await #expect(throws: ended) { _ = try await new.proven }
        }
    }

    @Test("A webhook's change names the key that signed for it")
    func audit() async throws {
        try await ServiceFixture.run { fixture in
            let backend = first(fixture)
            fixture.clock.advance(1)
            _ = try await fixture.context.setWebhook(
                "https://receiver.invalid/", by: try await backend.proven, allowingLoopback: false)
            fixture.clock.advance(1)
            try await fixture.context.removeWebhook(by: try await backend.proven)
            let found = try await entries(on: "provider \(fixture.registration.provider.id)", fixture)
            #expect(
                found.suffix(2) == [
                    "webhook_set: signed by key \(backend.keyID)", "webhook_removed: signed by key \(backend.keyID)",
                ])
        }
    }

    @Test("A webhook with a private host is refused, and kept in its one spelling otherwise")
    func webhooks() async throws {
        try await ServiceFixture.run { fixture in
            let proven = try await fixture.proof()
            for url in ["https://127.0.0.1/", "https://LOCALHOST:1/", "http://receiver.invalid/", "https://10.1.2.3/"] {
                await #expect(throws: Refusal(.malformedRequest, "")) {
                    _ = try await fixture.context.setWebhook(url, by: proven, allowingLoopback: false)
                }
            }
            #expect(
                try await fixture.context.setWebhook(
                    "https://Receiver.Invalid:443", by: proven, allowingLoopback: false) == "https://receiver.invalid/"
            )
        }
    }
}
