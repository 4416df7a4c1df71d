import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing
import Tokens

@testable import Operations

@Suite("Attempts to sign in")
struct SignInRecordTests {
    private static func recorded(
        of user: String, in fixture: ServiceFixture
    ) async throws -> [SignInAttempt] {
        let provider = fixture.registration.provider.id
        return try await fixture.store.read { transaction in
            guard let user = try UserRepository(transaction).find(providerID: provider, externalID: user) else {
                return []
            }
            return try SignInRecordRepository(transaction).list(of: user.id, after: .start, limit: 100)
        }
    }

    private static func count(_ table: String, _ sum: String = "COUNT(*)", in store: any Database) async throws -> Int64
    {
        try await store.read { try $0.first("SELECT COALESCE(\(sum), 0) FROM \(table)")?.integer(0) ?? -1 }
    }

    @Test(
        "No sign-in writes one; they are written together, with code, key, app, device and user",
        arguments: StoreKind.all)
    func path(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let connection = try await fixture.connectNewDevice()
            let store = CountingStore(fixture.store)
            let context = fixture.context(store: store)
            let token = try fixture.identityToken("alice", on: connection)
            let opened = try await context.openSession(identityToken: token, applicationID: nil, on: connection)
            fixture.clock.advance(1)
            await #expect(throws: Refusal.nonceUsed) {
                try await context.openSession(identityToken: token, applicationID: nil, on: connection)
            }
            let before = store.counts.writes
            #expect(try await Self.recorded(of: "alice", in: fixture).isEmpty)
            #expect(context.caches.signIns.count == 2)
            #expect(try await WriteSignIns(context)() == 0)
            #expect(store.counts.writes == before + 1)

            let found = try await Self.recorded(of: "alice", in: fixture)
            #expect(found.map(\.code) == ["invalid_identity_token", nil])
            #expect(found.map(\.reason) == ["nonce_used", nil])
            #expect(found.map(\.sessionID) == [nil, opened.session.id])
            for attempt in found {
                #expect(attempt.act == .open && attempt.userID == opened.session.userID)
                #expect(attempt.providerID == fixture.registration.provider.id)
                #expect(attempt.providerKeyID == fixture.registration.keyID)
                #expect(attempt.applicationID == opened.session.applicationID)
                #expect(attempt.deviceID == opened.session.deviceID)
            }
            // Nothing is left to write.
            #expect(try await WriteSignIns(context)() == 0)
            #expect(store.counts.writes == before + 1)
        }
    }

    @Test("name the user whom a token claims, and never a key or a provider that does not exist")
    func claims() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            _ = try await fixture.opened("alice", on: connection)
            let stranger = try ProviderSigner(.es256)
            for (provider, key) in [
                (fixture.registration.provider.id, fixture.registration.keyID),
                (fixture.registration.provider.id, ProviderKeyID(UUID())),
                (ProviderID(UUID()), fixture.registration.keyID),
            ] {
                fixture.clock.advance(1)
                let token = try stranger.identityToken(
                    provider: provider, kid: key, externalID: "alice",
                    nonce: fixture.context.issueNonce(connection).nonce, now: fixture.clock.now)
                await #expect(throws: Refusal.self) {
                    try await fixture.context.openSession(identityToken: token, applicationID: nil, on: connection)
                }
            }
            try await WriteSignIns(fixture.context)()
            let found = try await Self.recorded(of: "alice", in: fixture)
            #expect(found.map(\.reason) == ["unknown_key", "bad_signature", nil])
            #expect(found.map(\.providerKeyID) == [nil, fixture.registration.keyID, fixture.registration.keyID])
            let unknown = try await fixture.store.read {
                try $0.query("SELECT reason FROM sign_ins WHERE provider_id IS NULL AND user_id IS NULL")
                    .map { try $0.text(0) }
            }
            #expect(unknown == ["unknown_issuer"])
        }
    }

    @Test("Beyond a number an hour those of one network are only counted, one row an hour", arguments: StoreKind.shared)
    func crowd(kind: StoreKind) async throws {
        var policy = Policy()
        policy.sessions.recordedPerHour = 2
        try await ServiceFixture.run(policy, on: kind) { fixture in
            let connection = try await fixture.connectNewDevice()
            for index in 0..<4 { _ = try await fixture.opened("user-\(index)", on: connection) }
            for _ in 0..<2 {
                await #expect(throws: Refusal.self) {
                    try await fixture.context.openSession(identityToken: "x", applicationID: nil, on: connection)
                }
            }
            try await WriteSignIns(fixture.context)()
            // The bad tokens name no provider, so they are a crowd of their own.
            #expect(try await Self.count("sign_ins", in: fixture.store) == 4)
            for _ in 0..<3 { _ = try await fixture.opened("alice", on: connection) }
            try await WriteSignIns(fixture.context)()
            #expect(try await Self.count("sign_ins", in: fixture.store) == 4)
            #expect(try await Self.count("sign_in_tallies", in: fixture.store) == 1)
            #expect(try await Self.count("sign_in_tallies", "CAST(SUM(accepted) AS BIGINT)", in: fixture.store) == 5)
            let provider = fixture.registration.provider.id
            let counted = try await fixture.store.read {
                try SignInTallyRepository($0).counted(of: provider, since: $0.now)
            }
            #expect(counted.accepted == 5 && counted.refused == 0)
            // The next hour has its own number.
            fixture.clock.advance(3600)
            _ = try await fixture.opened("alice", on: connection)
            try await WriteSignIns(fixture.context)()
            #expect(try await Self.count("sign_ins", in: fixture.store) == 5)
        }
    }

    @Test("are kept while the store is away, and what finds no room is counted")
    func away() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let store = CountingStore(fixture.store)
            let context = fixture.context(store: store)
            _ = try await fixture.opened("alice", on: connection)
            store.isAway = true
            await #expect(throws: Refusal(.unavailable, "")) { try await WriteSignIns(context)() }
            #expect(context.caches.signIns.count == 1)
            store.isAway = false
            #expect(try await WriteSignIns(context)() == 0)
            #expect(try await Self.recorded(of: "alice", in: fixture).count == 1)

            let records = SignInRecords(limit: 2)
            for index in 0..<5 {
                let attempt = SignInAttempt(
                    id: SignInAttemptID(UUID()), at: fixture.clock.now, act: .open, providerID: nil, userID: nil,
                    sessionID: nil, providerKeyID: nil, applicationID: nil, deviceID: nil, code: "x", reason: nil)
                // A network each, and from the fourth on none is recorded by itself.
                records.note(
                    SignInRecords.Entry(attempt: attempt, externalID: nil), from: "\(index)", most: index < 3 ? 9 : 0)
            }
            let content = records.takeAll()
            #expect(content.entries.count == 2 && content.counts.count == 2 && content.dropped == 1)
            records.putBack(content.entries, content.counts, dropped: content.dropped)
            records.putBack(content.entries, [SignInRecords.Crowd: SignInRecords.Count](), dropped: 0)
            let again = records.takeAll()
            #expect(again.entries.count == 2 && again.counts == content.counts && again.dropped == 3)
        }
    }

    @Test("that were accepted have a number of their own, and bad tokens name one user twenty times an hour at most")
    func numbers() {
        let records = SignInRecords(limit: 100)
        func note(_ code: String?, of user: String) {
            let attempt = SignInAttempt(
                id: SignInAttemptID(UUID()), at: Date(timeIntervalSince1970: 1_000_000), act: .open, providerID: nil,
                userID: nil, sessionID: nil, providerKeyID: nil, applicationID: nil, deviceID: nil, code: code,
                reason: nil)
            records.note(SignInRecords.Entry(attempt: attempt, externalID: user), from: "network", most: 50)
        }
        for _ in 0..<30 { note("token_invalid", of: "alice") }
        for index in 0..<60 { note("token_invalid", of: "user-\(index)") }
        for _ in 0..<45 { note(nil, of: "alice") }
        let content = records.takeAll()
        let accepted = content.entries.filter { $0.attempt.isAccepted }
        let named = content.entries.filter { !$0.attempt.isAccepted && $0.externalID == "alice" }
        #expect(accepted.count == 45 && named.count == 20 && content.entries.count == 95)
        #expect(content.counts.values.map(\.refused) == [40] && content.dropped == 0)
    }

    @Test("A node that stops writes what it has noted")
    func stop() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            _ = try await fixture.opened("alice", on: connection)
            let write = WriteSignIns(fixture.context)
            let loop = Task { await write.run(onLoss: { #expect($0 == 0) }, onError: { Issue.record($0) }) }
            loop.cancel()
            await loop.value
            #expect(try await Self.recorded(of: "alice", in: fixture).count == 1)
        }
    }

    @Test("are deleted with the user, and one from before the erasure is written without the user")
    func erased() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            try await WriteSignIns(fixture.context)()
            #expect(try await Self.recorded(of: "alice", in: fixture).count == 1)
            // Noted, and not written before the erasure.
            _ = try await bench.phones.person("alice")
            fixture.clock.advance(1)
            _ = try await fixture.context.erasePersonalData(for: alice.session)
            #expect(try await Self.recorded(of: "alice", in: fixture).isEmpty)
            fixture.clock.advance(1)
            try await WriteSignIns(fixture.context)()
            #expect(try await Self.recorded(of: "alice", in: fixture).isEmpty)
            #expect(try await Self.count("sign_ins", in: fixture.store) > 0)
            // Who comes back has a history again.
            _ = try await bench.phones.person("alice")
            try await WriteSignIns(fixture.context)()
            #expect(try await Self.recorded(of: "alice", in: fixture).count == 1)
        }
    }

    @Test("from before the erasure of a user without sealed data are in no history, also after a new sign-in")
    func erasedWithoutData() async throws {
        try await ServiceFixture.run { fixture in
            let provider = fixture.registration.provider.id
            let connection = try await fixture.connectNewDevice()
            let first = try await fixture.opened("bob", on: connection)
            fixture.clock.advance(1)
            _ = try await fixture.context.erasePersonalData(for: first.session)
            fixture.clock.advance(1)
            try await WriteSignIns(fixture.context)()
            #expect(try await Self.recorded(of: "bob", in: fixture).isEmpty)
            let second = try await fixture.opened("bob", on: connection)
            try await WriteSignIns(fixture.context)()
            let history = try await fixture.context.readUserHistory("bob", of: provider, after: nil)
            let sessions = history.events.compactMap { event -> SessionID? in
                if case .session(let past, _) = event { past.session.id } else { nil }
            }
            #expect(sessions == [second.session.id] && history.events.count == 2)
        }
    }

    @Test("and their counts are kept for the policy's time")
    func kept() async throws {
        var policy = Policy()
        policy.sessions.recordedPerHour = 1
        try await ServiceFixture.run(policy) { fixture in
            let connection = try await fixture.connectNewDevice()
            for _ in 0..<2 { _ = try await fixture.opened("alice", on: connection) }
            try await WriteSignIns(fixture.context)()
            for (seconds, left) in [(30 * 86_400 - 3600, Int64(1)), (7200, 0)] {
                fixture.clock.advance(TimeInterval(seconds))
                try await fixture.housekeeping()
                #expect(try await Self.count("sign_ins", in: fixture.store) == left)
                #expect(try await Self.count("sign_in_tallies", in: fixture.store) == left)
            }
        }
    }
}
