import Crypto
import Database
import Delivery
import Domain
import Fixtures
import Foundation
import Operations
import PhoneNumbers
import Repositories
import Synchronization

/// Phone verification in a fixture: its operations, and the texts that came out.
struct PhoneBench {
    let fixture: ServiceFixture
    let keys: PersonalKeys
    let codes: PhoneCodeKeys
    let context: Service
    let deliver: DeliverOutbox
    let texts = Texts()

    /// What a carrier was given, and what it answers.
    final class Texts: Sendable {
        private let state = Mutex(
            (
                sent: [(to: String, code: String)](), ids: [OutboxMessageID](),
                outcome: DeliveryOutcome.sent(reference: ""), parts: [PhoneTextParts]()
            ))

        var sent: [(to: String, code: String)] { state.withLock { $0.sent } }
        /// The id of each attempt's message.
        var ids: [OutboxMessageID] { state.withLock { $0.ids } }
        var last: String? { sent.last?.code }
        /// What texts were written of.
        var parts: [PhoneTextParts] { state.withLock { $0.parts } }

        func write(_ parts: PhoneTextParts) -> String {
            state.withLock { $0.parts.append(parts) }
            return parts.code
        }

        func answer(_ outcome: DeliveryOutcome) { state.withLock { $0.outcome = outcome } }

        func take(_ message: Message, _ id: OutboxMessageID) -> DeliveryOutcome {
            state.withLock { state in
                state.ids.append(id)
                if case .text(let number, let body) = message { state.sent.append((number.e164, body)) }
                return state.outcome
            }
        }
    }

    init(
        _ fixture: ServiceFixture, rateLimiting: RateLimiting = .on, development: DevelopmentMode? = nil
    ) throws {
        self.fixture = fixture
        keys = fixture.personalKeys
        codes = fixture.context.keys.phoneCodes
        context = fixture.context(rateLimiting: rateLimiting, development: development)
        deliver = Self.loop(fixture, texts, on: fixture.store, development: development)
    }

    /// The loop of another node.
    func loop(on store: any Database) -> DeliverOutbox { Self.loop(fixture, texts, on: store) }

    private static func loop(
        _ fixture: ServiceFixture, _ texts: Texts, on store: any Database, development: DevelopmentMode? = nil
    ) -> DeliverOutbox {
        let context = fixture.context(store: store, development: development)
        return DeliverOutbox(of: context, writeText: { texts.write($0) }, send: { texts.take($0, $1) })
    }

    /// A user at a device.
    struct Person {
        let session: Session
        let connection: ClientConnection
    }

    func person(_ name: String, on connection: ClientConnection? = nil) async throws -> Person {
        let connection =
            if let connection { connection } else { try await fixture.connectNewDevice() }
        return Person(session: try await fixture.opened(name, on: connection).session, connection: connection)
    }

    @discardableResult
    func begin(
        _ number: String, _ person: Person, address: String = "192.0.2.1", presence: String? = nil,
        captcha: String? = nil, languages: LanguagePreferences = .none
    ) async throws -> Service.StartedPhoneVerification {
        try await context.startPhoneVerification(
            .init(
                phoneNumber: number, region: nil, pushEndpoint: nil, presence: presence, captcha: captcha,
                languages: languages, address: address),
            for: person.session, on: person.connection, verifyCaptcha: { $0 == "solved" })
    }

    func verdict(
        _ id: PhoneVerificationID, _ code: String, _ person: Person
    ) async throws -> PhoneVerification.CheckVerdict {
        try await context.checkPhoneVerification(id.description, code: code, for: person.session).verdict
    }

    /// The code as only the service can know it.
    func code(_ id: PhoneVerificationID, _ number: String, _ person: Person) -> String {
        codes.code(
            version: 1, verification: id, user: person.session.userID, device: person.session.deviceID, e164: number,
            digits: 6)?.digits.reveal() ?? ""
    }

    /// A code that is not the one.
    func wrong(_ right: String) -> String { right == "000000" ? "000001" : "000000" }
}
