import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Repositories
import Testing
import Tokens

@Suite("A nonce that is spent")
struct SpentNonceTests {
    /// What a nonce is spent for.
    enum Spender: CaseIterable {
        case signIn
        case renewal
        case presence
    }

    static let pairs = Spender.allCases.flatMap { first in Spender.allCases.map { (first, $0) } }

    /// A user with two challenged sessions and one that acts, on a device that proves presence.
    private struct Bench {
        let fixture: ServiceFixture
        let phones: PhoneBench
        let connection: ClientConnection
        let device: ProviderSigner
        let challenged: [String]
        let person: PhoneBench.Person

        init(_ fixture: ServiceFixture) async throws {
            self.fixture = fixture
            phones = try PhoneBench(fixture)
            device = try ProviderSigner(.es256)
            let request = Service.DeviceRequest(
                csr: try TestAuthority.certificationRequest(commonName: UUID().uuidString),
                presenceKey: device.publicKeyPEM, enrolmentToken: nil, captcha: nil, address: "192.0.2.1")
            connection = try await fixture.connect(try await fixture.certify(request).certificate.thumbprint)
            var tokens: [String] = []
            for _ in 0..<2 {
                tokens.append(try #require(try await fixture.opened("alice", on: connection).token).text.reveal())
            }
            challenged = tokens
            fixture.clock.advance(fixture.policy[\.sessions].idleLifetime + 60)
            person = PhoneBench.Person(
                session: try await fixture.opened("alice", on: connection).session, connection: connection)
        }

        /// What came of showing a nonce: `nil` if it was accepted.
        func spend(_ nonce: String, for purpose: Spender, token: Int) async throws -> Refusal.Reason? {
            do {
                switch purpose {
                case .signIn:
                    _ = try await fixture.context.openSession(
                        identityToken: try identity(nonce), applicationID: nil, on: connection)
                case .renewal:
                    _ = try await fixture.context.renewSession(
                        sessionToken: challenged[token], identityToken: try identity(nonce), on: connection)
                case .presence: try await phones.begin("+14155552671", person, presence: try proof(nonce))
                }
                return nil
            } catch let refusal as Refusal {
                return refusal.reason
            }
        }

        private func identity(_ nonce: String) throws -> String {
            try fixture.signer.identityToken(
                provider: fixture.registration.provider.id, kid: fixture.registration.keyID, externalID: "alice",
                nonce: nonce, now: fixture.clock.now)
        }

        private func proof(_ nonce: String) throws -> String {
            var draft = TokenDraft(contentType: "layer-presence;v=1", algorithm: .es256, kid: nil)
            draft[claim: "nce"] = .string(nonce)
            draft[claim: "iat"] = .integer(Int64(fixture.clock.now.timeIntervalSince1970))
            draft[claim: "method"] = .string("touch_id")
            draft[claim: "phone_sha256"] = .string(Digest256.of("+14155552671").base64URL)
            return try device.sign(draft)
        }
    }

    @Test("is refused by whatever it is shown to next", arguments: StoreKind.shared, pairs)
    func twice(kind: StoreKind, pair: (Spender, Spender)) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let bench = try await Bench(fixture)
            let nonce = fixture.context.issueNonce(bench.connection).nonce
            #expect(try await bench.spend(nonce, for: pair.0, token: 0) == nil)
            #expect(try await bench.spend(nonce, for: pair.1, token: 1) == .nonceUsed)
        }
    }

    @Test("at two places at once is accepted at one", arguments: StoreKind.shared, pairs)
    func atOnce(kind: StoreKind, pair: (Spender, Spender)) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let bench = try await Bench(fixture)
            let nonce = fixture.context.issueNonce(bench.connection).nonce
            async let first = bench.spend(nonce, for: pair.0, token: 0)
            async let second = bench.spend(nonce, for: pair.1, token: 1)
            let answers = try await [first, second]
            #expect(answers.contains(nil) && answers.contains(.nonceUsed), "\(answers)")
        }
    }

    @Test(
        "is not forgotten before fifteen minutes after its end, though the policies of sessions and nonces are shorter",
        arguments: StoreKind.shared)
    func kept(kind: StoreKind) async throws {
        var policy = Policy()
        (policy.sessions.absoluteLifetime, policy.sessions.idleLifetime) = (120, 30)
        (policy.sessions.renewalWindow, policy.nonces.keptAfterExpiry) = (600, 60)
        policy.nonces.lifetime = NoncePolicy.longestLifetime
        try await ServiceFixture.run(policy, on: kind) { fixture in
            let bench = try await Bench(fixture)
            let text = fixture.context.issueNonce(bench.connection).nonce
            let nonce = try #require(Nonce(issuedHere: text, key: fixture.context.keys.nonces))
            func isKept() async throws -> Bool {
                try await fixture.store.read { try NonceRepository($0).isSpent(nonce) }
            }
            #expect(try await bench.spend(text, for: .renewal, token: 0) == nil)
            _ = try await fixture.context.erasePersonalData(for: bench.person.session)
            #expect(try await isKept())
            fixture.clock.advance(NoncePolicy.longestLifetime + NoncePolicy.margin - 1)
            try await fixture.housekeeping()
            #expect(try await isKept())
            fixture.clock.advance(120)
            try await fixture.housekeeping()
            #expect(try await !isKept())
        }
    }

    @Test("for a renewal is in no list, count or export of sessions", arguments: StoreKind.shared)
    func unlisted(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let bench = try await Bench(fixture)
            #expect(
                try await bench.spend(fixture.context.issueNonce(bench.connection).nonce, for: .renewal, token: 0)
                    == nil)
            let session = bench.person.session
            let listed = try await fixture.context.listSessions(for: session)
            #expect(listed.count == 3)
            let counts = try await fixture.store.read { transaction in
                let sessions = SessionRepository(transaction)
                return try [
                    sessions.listOpen(.user(session.userID)).count, sessions.listOpen(limit: 9).count,
                    sessions.countOpen(.user(session.userID), limit: 9),
                    DeviceRepository(transaction).list(limit: 1).first?.sessions ?? -1,
                ]
            }
            #expect(counts == [3, 3, 3, 3])
        }
    }
}
