import CountersignClient
import Fixtures
import Foundation
import Testing

/// What happens to calls when what they rest on is replaced.
@Suite("Renewal under calls", .serialized)
struct RenewalTests {
    /// Makes calls at once; how many failed, and the first failure.
    private func flood(_ app: App, calls: Int) async -> (failed: Int, first: Refusal?) {
        await withTaskGroup(of: Refusal?.self) { group in
            for _ in 0..<calls {
                group.addTask {
                    do throws(Refusal) {
                        try await app.client.act()
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            var failures: [Refusal] = []
            for await failure in group { if let failure { failures.append(failure) } }
            return (failures.count, failures.first)
        }
    }

    @Test("a thousand calls in a challenged session make one renewal, and each is answered")
    func challenge() async throws {
        let service = try await LiveService()
        let app = try App(service.service())
        let tokens = Counter()
        try await app.client.certify()
        let session = try await app.client.signIn(service.source("alice", tokens))
        try await service.admin("session", "challenge", session.id.uuidString.lowercased())
        // Another process of the app, which cannot renew, sees when the service knows of it.
        _ = try await App(service.service(), directory: app.directory).refusal()
        let (failed, first) = await flood(app, calls: 1000)
        #expect(failed == 0, "\(String(describing: first))")
        #expect(app.count("/sessions/renew", status: 200) == 1 && tokens.count == 2)
        #expect(app.count("/sessions", status: 201) == 1)
        #expect(try await app.client.session?.id == session.id)
    }

    @Test("a thousand calls across the end of a session make one new session of the same user")
    func expiry() async throws {
        let service = try await LiveService()
        let app = try App(service.service())
        let tokens = Counter()
        try await app.client.certify()
        let session = try await app.client.signIn(service.source("alice", tokens))
        try await service.admin("session", "end", session.id.uuidString.lowercased())
        // Another process of the app, which cannot renew, sees when the service knows of it.
        _ = try await App(service.service(), directory: app.directory).refusal()
        let (failed, first) = await flood(app, calls: 1000)
        #expect(failed == 0, "\(String(describing: first))")
        #expect(tokens.count == 2 && app.count("/sessions", status: 201) == 2)
        let now = try await app.client.session
        #expect(now?.id != session.id && now?.userID == session.userID)
    }

    @Test("a renewal that proves another user gives no session: the calls are refused")
    func anotherUser() async throws {
        let service = try await LiveService()
        let app = try App(service.service())
        let asked = Counter()
        try await app.client.certify()
        let session = try await app.client.signIn { nonce in
            asked.add()
            return try service.identityToken(asked.count == 1 ? "alice" : "mallory", nonce.value)
        }
        try await service.admin("session", "challenge", session.id.uuidString.lowercased())
        _ = try await App(service.service(), directory: app.directory).refusal()
        do throws(Refusal) {
            try await app.client.act()
            Issue.record("another user's session was taken")
        } catch {
            guard case .notRenewed(.anotherUser) = error else { throw error }
        }
        #expect(try await app.client.session == nil)
    }

    @Test("a provider that gives no token is named, and the session can be renewed later")
    func providerAway() async throws {
        struct Away: Error {}
        let service = try await LiveService()
        let app = try App(service.service())
        let asked = Counter()
        try await app.client.certify()
        let session = try await app.client.signIn { nonce in
            asked.add()
            if asked.count == 2 { throw Away() }
            return try service.identityToken("alice", nonce.value)
        }
        try await service.admin("session", "challenge", session.id.uuidString.lowercased())
        _ = try await App(service.service(), directory: app.directory).refusal()
        do throws(Refusal) {
            try await app.client.act()
            Issue.record("renewed without a token")
        } catch {
            guard case .notRenewed(.provider(let cause)) = error, cause is Away else { throw error }
        }
        try await app.client.act()
        #expect(try await app.client.session?.id == session.id && asked.count == 3)
    }
}
