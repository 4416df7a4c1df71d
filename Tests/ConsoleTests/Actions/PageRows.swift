import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Console
@testable import Operations

/// Rows of every kind that a page shows.
struct PageRows {
    /// One of 20 sessions on a device. Its user has a note of a ban.
    let session: Session
    /// The serial number of the device's certificate.
    let serial: String
    let ban: BanID
    let act: WaitingActID
    let card: IdentityCardID
    /// A dead message.
    let message: OutboxMessageID
}

extension PageRows {
    /// - Parameter world: its only provider gets an issuer with more clients.
    init(filling world: ConsoleWorld) async throws {
        let fixture = world.fixture
        let connection = try await fixture.connectNewDevice()
        var (session, ban): (Session?, BanID?)
        for number in 0..<20 {
            session = try await fixture.opened("user\(number)", on: connection).session
            let order = try BanOrder(
                target: .user("test/user\(number)"), scope: .messaging,
                reason: try #require(Ban.Reason(rawValue: "spam")), note: "a note", endsAt: nil, withDevices: false)
            ban = try await fixture.admin.addBan(order, upTo: nil).ban.id
        }
        self.session = try #require(session)
        self.ban = try #require(ban)
        card = try await Self.card(fixture)
        let device = self.session.deviceID
        serial = try #require(try await fixture.admin.readDevice(device).certificates.first?.serial)
        (act, message) = (WaitingActID(UUID()), OutboxMessageID(UUID()))
        let waiting = WaitingAct(
            id: act, kind: .disabling, subject: "provider x", content: "{}", users: 1, reason: nil,
            requestedBy: world.administrator.id, createdAt: fixture.clock.now, isUrgent: false)
        let (provider, message) = (fixture.registration.provider.id, self.message)
        try await fixture.store.write { transaction in
            let now = transaction.now
            try WaitingActRepository(transaction).insert(waiting)
            try OutboxRepository(transaction).enqueueInsert(
                OutboxMessage(
                    id: message, kind: .providerEvent, owner: OutboxOwner(provider), subject: provider.description,
                    userID: UserID(UUID()), deduplicationKey: "\(message)", payload: [1], createdAt: now,
                    expiresAt: now + 3600, dueAt: now))
            try transaction.execute(
                "UPDATE outbox SET state = 'dead', ended_at = 0 WHERE id = $1", [.text(message.description)])
            try transaction.execute(
                """
                UPDATE providers SET issuer = 'https://issuer.example', audience = 'one', id_token_algorithms = 'ES256'
                WHERE id = $1
                """, [.text(provider.description)])
        }
    }

    /// A card in review, of a user who has proven a number.
    private static func card(_ fixture: ServiceFixture) async throws -> IdentityCardID {
        let keys = fixture.personalKeys
        let session = try await fixture.opened("carol", on: try await fixture.connectNewDevice()).session
        try await fixture.store.write { transaction in
            let found = try UserRepository(transaction).find(session.userID)
            let user = try #require(found)
            _ = try AuthenticatedUserRepository(transaction, keys: keys)
                .phoneProven(user, "+14155552671", at: transaction.now)
        }
        let specimen = try #require(CardSpecimen("VA"))
        return try await fixture.context.submitCard(
            .aamva(Data(specimen.bytes).base64EncodedString()), for: session, askIssuer: nil
        ).id
    }
}
