import Crypto
import Database
import Domain
import Fixtures
import Foundation
import Operations
import PhoneNumbers
import Repositories
import Testing
import Tokens

/// Bans in a fixture: made as another process makes them, which shares nothing but the store.
struct BanBench {
    let fixture: ServiceFixture
    let phones: PhoneBench
    let admin: Administration
    private let confirmation: IssuerConfirmation

    static let spam = Ban.Reason(rawValue: "spam")

    /// - Parameter confirmation: what the issuers of cards say.
    init(_ fixture: ServiceFixture, confirmation: IssuerConfirmation = .unanswered) throws {
        self.fixture = fixture
        phones = try PhoneBench(fixture, rateLimiting: .off)
        admin = fixture.admin
        self.confirmation = confirmation
    }

    /// An order that says nothing special.
    func order(
        _ target: BanTarget, _ scope: Ban.Scope = .all, for seconds: TimeInterval? = nil, note: String? = nil,
        withDevices: Bool = false, replaces: Bool = false
    ) throws -> BanOrder {
        try BanOrder(
            target: target, scope: scope, reason: try #require(Self.spam), note: note,
            endsAt: seconds.map { fixture.clock.now + $0 }, withDevices: withDevices, replaces: replaces)
    }

    /// Bans as the policy says.
    @discardableResult
    func ban(_ order: BanOrder, upTo limit: Int?) async throws -> (ban: Ban, impact: BanImpact) {
        try await admin.addBan(order, by: fixture.policy[\.bans], upTo: limit)
    }

    /// Bans, and lets the running service read the change counter.
    @discardableResult
    func ban(
        _ target: BanTarget, _ scope: Ban.Scope = .all, for seconds: TimeInterval? = nil, note: String? = nil,
        withDevices: Bool = false
    ) async throws -> (ban: Ban, impact: BanImpact) {
        let done = try await ban(
            try order(target, scope, for: seconds, note: note, withDevices: withDevices), upTo: nil)
        try await fixture.watch.poll()
        return done
    }

    func phone(_ number: String) throws -> BanTarget { .phone(try PhoneNumber(reading: number)) }

    /// Proves a number; the outcome says whether it is banned.
    @discardableResult
    func prove(_ number: String, _ person: PhoneBench.Person) async throws -> Service.CheckedPhoneVerification {
        let id = try await phones.begin(number, person).id
        return try await phones.context.checkPhoneVerification(
            id.description, code: phones.code(id, number, person), for: person.session)
    }

    /// Shows a specimen's barcode.
    @discardableResult
    func show(
        _ person: PhoneBench.Person, change: (inout CardSpecimen) -> Void = { _ in }
    ) async throws -> Service.EvaluatedCard {
        var specimen = try #require(CardSpecimen("VA"))
        change(&specimen)
        return try await fixture.context.submitCard(
            .aamva(Data(specimen.bytes).base64EncodedString()), for: person.session, askIssuer: { _ in confirmation })
    }

    /// A user of another provider, at a device of their own.
    func stranger(_ name: String) async throws -> PhoneBench.Person {
        let clock = fixture.clock
        let signer = try ProviderSigner(.es256)
        let registration = try await fixture.admin.addProvider(
            name: "Other \(name)", slug: nil, account: nil, avatarHosts: [],
            key: try signer.verificationKey)
        let connection = try await fixture.connectNewDevice()
        let token = try signer.identityToken(
            provider: registration.provider.id, kid: registration.keyID, externalID: name,
            nonce: fixture.context.issueNonce(connection).nonce, now: clock.now)
        let opened = try await fixture.context.openSession(identityToken: token, applicationID: nil, on: connection)
        return PhoneBench.Person(session: opened.session, connection: connection)
    }

    /// How many rows of a table fit.
    func count(_ table: String, where condition: String = "1 = 1") async throws -> Int64 {
        try await fixture.store.read {
            try $0.first("SELECT count(*) FROM \(table) WHERE \(condition)")?.integer(0) ?? -1
        }
    }
}
