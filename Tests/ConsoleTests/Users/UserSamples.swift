import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Console
@testable import Operations

/// Values of pages, with a text of the test's choice in each column of text.
enum UserSamples {
    static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let digest = Digest256.of("sample")

    static func user(_ text: String) -> User {
        User(
            id: UserID(UUID()), providerID: ProviderID(UUID()), externalID: text, assurance: .barcode, createdAt: now)
    }

    /// A user without a provider in the store, whose address is the external id.
    static func summary(_ text: String, in world: ConsoleWorld) async throws -> UserSummary {
        let user = user(text)
        return try await world.fixture.store.read { try UserSummary(user, in: $0) }
    }

    static func session(_ text: String, device: DeviceID = DeviceID(UUID()), user: UserID = UserID(UUID())) -> Session {
        Session(
            id: SessionID(UUID()), tokenHash: digest, userID: user, providerID: ProviderID(UUID()), externalID: text,
            applicationID: ApplicationID(UUID()), deviceID: device, thumbprint: digest,
            providerKeyID: ProviderKeyID(UUID()), state: .authenticated, createdAt: now, renewedAt: now,
            lastUsedAt: now, challengedAt: nil)
    }

    static func ban(_ text: String, scope: Ban.Scope = .all, endsAt: Date? = nil) throws -> Ban {
        let reason = try #require(Ban.Reason(rawValue: "spam"))
        return Ban(
            id: BanID(UUID()), kind: .user, scope: scope, reason: reason, actor: text, createdAt: now, endsAt: endsAt,
            lifted: nil)
    }

    static func detail(
        _ summary: UserSummary, ban: Ban? = nil, sessions: [Session] = [], cards: [CardStatus: Int] = [:]
    ) -> Administration.UserDetail {
        Administration.UserDetail(
            summary: summary, ban: ban, sessions: sessions, devices: 1, cards: cards, phoneVerifiedAt: nil,
            identityVerifiedAt: nil, suspended: ban == nil ? nil : .phoneReassigned, lastUsedAt: nil, erasedAt: nil)
    }

    static func event(_ kind: UserEvent.Kind, _ text: String, number: Int = 0) -> UserEvent {
        var event = UserEvent(at: now, kind, id: "\(kind)-\(number)", text)
        (event.code, event.reason, event.actor) = (text, text, text)
        (event.deviceID, event.applicationID) = (DeviceID(UUID()), ApplicationID(UUID()))
        (event.sessionID, event.keyID) = (SessionID(UUID()), ProviderKeyID(UUID()))
        event.cursor = "\(number)"
        return event
    }

    static func device(_ text: String, sessions: [Session] = []) -> Administration.DeviceDetail {
        let id = DeviceID(UUID())
        let certificate = DeviceCertificate(
            serial: text, thumbprint: digest, deviceID: id, keyHash: digest, notBefore: now, notAfter: now,
            issuedAt: now, replaces: text, firstSeenAt: nil, revoked: .init(at: now, reason: text))
        let summary = DeviceSummary(
            id: id, createdAt: now, userAgent: text, attestation: .unattested, hasPresenceKey: true, certificates: 1,
            sessions: sessions.count)
        return (summary: summary, certificates: [certificate], sessions: sessions, bans: [])
    }

    static func page(
        _ detail: Administration.UserDetail, _ events: [UserEvent] = [], as role: AdminRole = .security,
        after cursor: String? = nil
    ) -> Page {
        let history: Administration.UserHistory = (
            summary: detail.summary, events: events, permissions: [.approval: 2, .request: 1],
            onlyCounted: (accepted: 3, refused: 4)
        )
        return UserPage(
            detail: detail, timeline: UserTimeline(history, after: cursor), role: role, lifetimes: SessionPolicy(),
            now: now
        ).page
    }
}
