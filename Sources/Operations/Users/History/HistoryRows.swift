import Database
import Domain
import Foundation
import Repositories

/// What the tables have of a user's history, without the audit log.
struct HistoryRows: Sendable {
    let summary: UserSummary
    /// At least the first ones of the page, unsorted.
    let events: [UserEvent]
    /// Of the newest ``permissionsCounted`` on each side.
    let permissions: [MessagingPermission.State: Int]

    /// More rows than this would make a page slow, and no tally has their number.
    static let permissionsCounted = 50
    /// The number of devices whose certificates are part of a history: those that were used last.
    private static let devicesShown = 20
}

extension HistoryRows {
    init(of summary: UserSummary, after place: HistoryPlace, limit: Int, in transaction: any Transaction) throws {
        self.summary = summary
        events = try Self.events(of: summary.user.id, after: place, limit: limit, in: transaction)
        permissions = try Self.permissions(of: summary.user.id, in: transaction)
    }

    private static func events(
        of user: UserID, after place: HistoryPlace, limit: Int, in transaction: any Transaction
    ) throws -> [UserEvent] {
        let traces = UserTraceRepository(transaction, of: user)
        let bans = Dictionary(
            try BanRepository(transaction).entries(on: [.user(user)]).map { ($0.ban.id, $0.ban) }
                + BanRepository(transaction).holdsInForce(on: user).map { ($0.ban.id, $0.ban) },
            uniquingKeysWith: { first, _ in first })
        var short = bans.values.flatMap { UserEvent.events(of: $0) }
        let certificates = try CertificateRepository(transaction).list(
            ofNewestDevices: devicesShown, of: user, limit: UserTraceRepository.most)
        for certificate in certificates { short += UserEvent.events(of: certificate) }
        for verification in try traces.verifications() { short += UserEvent.events(of: verification) }
        for card in try IdentityCardRepository(transaction).list(of: user) { short += UserEvent.events(of: card) }
        let attempts = try SignInRecordRepository(transaction).list(of: user, after: place, limit: limit)
        let sessions = try SessionRepository(transaction).list(of: user, after: place, since: nil, limit: limit)
        return attempts.map { UserEvent($0) } + sessions.map { UserEvent($0) }
            + short.filter { place.precedes($0.place) }
    }

    private static func permissions(
        of user: UserID, in transaction: any Transaction
    ) throws -> [MessagingPermission.State: Int] {
        let records = AuthorizationRepository(transaction)
        let found = try MessagingPermission.Box.allCases.flatMap {
            try records.list(of: user, box: $0, state: nil, limit: permissionsCounted)
        }
        return found.reduce(into: [:]) { $0[$1.state(now: transaction.now), default: 0] += 1 }
    }
}
