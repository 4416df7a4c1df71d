import Domain
import Encoding
import Foundation
import Testing

@Suite("Bans as values")
struct BanValueTests {
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)

    private func ban(
        _ scope: Ban.Scope = .all, until seconds: TimeInterval? = nil, lifted: Bool = false,
        made: TimeInterval = 0
    ) throws -> Ban {
        Ban(
            id: BanID(UUID()), kind: .user, scope: scope, reason: try #require(Ban.Reason(rawValue: "spam")),
            actor: "admin test", createdAt: Self.start + made, endsAt: seconds.map { Self.start + $0 },
            lifted: lifted ? .init(at: Self.start + 1, actor: "admin test") : nil)
    }

    private func hold(_ ban: Ban, until seconds: TimeInterval? = nil) -> BanEntry {
        BanEntry(
            ban: ban, subject: .user(UserID(UUID())), origin: .direct,
            endsAt: seconds.map { Self.start + $0 } ?? ban.endsAt, indexVersion: nil)
    }

    @Test("A ban is active until its end, which is over at once; a permanent one has none; a lifted one stays lifted")
    func states() throws {
        #expect(try ban().state(at: .distantFuture) == .active)
        let dated = try ban(until: 10)
        #expect(dated.state(at: Self.start) == .active)
        #expect(dated.state(at: Self.start + 9.999) == .active)
        #expect(dated.state(at: Self.start + 10) == .expired)
        for moment in [0.0, 5, 10, 1e9] {
            #expect(try ban(until: 10, lifted: true).state(at: Self.start + moment) == .lifted)
            #expect(try !ban(lifted: true).isActive(at: Self.start + moment))
        }
    }

    @Test("To forbid everything is to forbid messaging, and not the other way round")
    func scopes() {
        #expect(Ban.Scope.all.includes(.all) && Ban.Scope.all.includes(.messaging))
        #expect(Ban.Scope.messaging.includes(.messaging) && !Ban.Scope.messaging.includes(.all))
    }

    @Test("Of several holds the longest in force is told; messaging bans forbid no sign-in")
    func activeBan() throws {
        let now = Self.start
        let short = hold(try ban(until: 5))
        let long = hold(try ban(until: 50))
        let messaging = hold(try ban(.messaging))
        let partly = hold(try ban(until: 500), until: 20)
        #expect(BanEntry.activeBan(among: [], for: .all, at: now) == nil)
        #expect(BanEntry.activeBan(among: [messaging], for: .all, at: now) == nil)
        #expect(BanEntry.activeBan(among: [short, messaging], for: .messaging, at: now) == messaging)
        #expect(BanEntry.activeBan(among: [short, long, partly, messaging], for: .all, at: now) == long)
        #expect(BanEntry.activeBan(among: [short, partly], for: .all, at: now + 10) == partly)
        #expect(BanEntry.activeBan(among: [short, partly], for: .all, at: now + 20) == nil)
        #expect(BanEntry.activeBan(among: [long, hold(try ban(until: 60, lifted: true))], for: .all, at: now) == long)
        let older = hold(try ban())
        let newer = hold(try ban(made: 1))
        #expect(BanEntry.activeBan(among: [newer, older], for: .all, at: now) == newer)
    }

    @Test("A user's ban holds the number for its own time, and no longer than policy says")
    func numbers() {
        var policy = BanPolicy()
        let now = Self.start
        #expect(policy.phoneHoldEnd(ofBanUntil: nil, at: now) == now + 180 * 86_400)
        #expect(policy.phoneHoldEnd(ofBanUntil: now + 60, at: now) == now + 60)
        #expect(policy.phoneHoldEnd(ofBanUntil: now + 1e9, at: now) == now + 180 * 86_400)
        policy.phoneBan = 0
        #expect(policy.phoneHoldEnd(ofBanUntil: nil, at: now) == nil)
    }

    @Test("A ban reaches the document from the level on at which the issuer was asked")
    func documents() {
        #expect(Assurance.allCases.filter(\.carriesBanToDocument) == [.issuerChecked, .credential])
    }

    @Test("The levels are listed in their order, and a signature is below the issuer's answer")
    func order() {
        #expect(Assurance.allCases == Assurance.allCases.sorted())
        #expect(Assurance.barcode < .issuerSigned && Assurance.issuerSigned < .issuerChecked)
    }

    @Test("A reason is one short word of lower-case letters, digits, hyphens and underscores")
    func reasons() {
        for word in ["spam", "stolen_card", "t-1", "7", String(repeating: "a", count: 40)] {
            #expect(Ban.Reason(rawValue: word)?.rawValue == word)
        }
        for text in ["", "Spam", "two words", "naïve", "a\n", String(repeating: "a", count: 41)] {
            #expect(Ban.Reason(rawValue: text) == nil)
        }
    }
}

@Suite("Export tokens")
struct ExportTokenTests {
    private let key = ExportKey(Secret([UInt8](repeating: 1, count: 32)))
    private let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let device = Digest256.of("device")

    @Test("name their user for ten minutes to the certificate that they were given to, and describe as dots")
    func life() throws {
        let user = UserID(UUID())
        let token = ExportToken.issue(for: user, now: now, thumbprint: device, key: key)
        #expect("\(token)" == "••••")
        let shown = try ExportToken(shown: token.reveal(), thumbprint: device, key: key, now: now + 599)
        #expect(shown.userID == user)
        #expect(throws: Refusal(.sessionExpired, "")) {
            try ExportToken(shown: token.reveal(), thumbprint: device, key: key, now: now + 600)
        }
        #expect(throws: Refusal(.sessionRequired, "")) {
            try ExportToken(shown: token.reveal(), thumbprint: .of("other"), key: key, now: now)
        }
        let other = ExportKey(Secret([UInt8](repeating: 2, count: 32)))
        #expect(throws: Refusal(.sessionRequired, "")) {
            try ExportToken(shown: token.reveal(), thumbprint: device, key: other, now: now)
        }
    }

    @Test("no byte of one can be changed, and nothing else is one")
    func forgery() throws {
        let token = ExportToken.issue(for: UserID(UUID()), now: now, thumbprint: device, key: key).reveal()
        let bytes = try #require(Base64URL.decode(token))
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 1
            #expect(throws: Refusal(.sessionRequired, "")) {
                try ExportToken(shown: Base64URL.encode(changed), thumbprint: device, key: key, now: now)
            }
        }
        for text in ["", "a.b.c", String(token.dropLast()), token + "A"] {
            #expect(throws: Refusal(.sessionRequired, "")) {
                try ExportToken(shown: text, thumbprint: device, key: key, now: now)
            }
        }
    }
}
