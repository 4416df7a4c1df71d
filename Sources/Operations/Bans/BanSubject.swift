import Database
import Domain
import Encoding
import Foundation
import Repositories

/// Shuts a user, a number, a document or a device out. Ban, ended sessions, withdrawn authorizations, audit entry and the notice by which all
/// processes close the connections are one transaction.
package struct BanSubject: Sendable {
    private let store: any Database
    private let plan: BanPlanner
    private let keys: PersonalKeys
    private let environment: Environment
    private let actor: String

    /// Bans in a store, in somebody's name.
    package init(
        store: any Database, keys: PersonalKeys, policy: BanPolicy, environment: Environment, actor: String
    ) {
        self.store = store
        self.keys = keys
        self.environment = environment
        self.actor = actor
        plan = BanPlanner(keys: keys, policy: policy)
    }

    /// Whom a ban would hit. Nothing is changed.
    ///
    /// - Throws: as ``callAsFunction(_:upTo:)``.
    package func preview(_ order: BanOrder) async throws -> BanImpact {
        let id: BanID = environment.newIdentifier()
        return try await store.snapshot { transaction in
            try plan(order, as: ban(order, id, at: transaction.now), in: transaction).impact
        }
    }

    /// Bans.
    ///
    /// - Parameter limit: how many users it may hit, as was agreed after ``preview(_:)``; `nil` for any number.
    /// - Throws: `Refusal` `not_found`; `conflict` where the subject is banned as much for as long already, or more
    ///   users are hit than `limit`.
    package func callAsFunction(
        _ order: BanOrder, upTo limit: Int?
    ) async throws -> (ban: Ban, impact: BanImpact) {
        let id: BanID = environment.newIdentifier()
        let auditID = environment.newUUID()
        return try await store.transaction { transaction in
            let ban = ban(order, id, at: transaction.now)
            let plan = try plan(order, as: ban, in: transaction)
            if let limit, plan.impact.users.count > limit {
                throw Refusal(
                    .conflict, "This would hit \(plan.impact.users.count) users.", state: "unconfirmed")
            }
            let records = BanRepository(transaction)
            try records.insert(ban)
            for hold in plan.holds { try records.insert(hold) }
            if let note = order.note { try BanMaintenance(transaction).setNote(note, .note, of: id, keys: keys) }
            if ban.scope == .all { try terminateSessions(plan, by: ban, in: transaction) }
            let authorizations = AuthorizationRepository(transaction)
            for user in plan.banned { try authorizations.withdraw(allOf: user, because: .banned, at: transaction.now) }
            try AuditRepository(transaction).append(
                .banAdded, subject: plan.subject, actor: actor, detail: Self.detail(ban, plan.impact),
                reason: AuditReason(ban.reason.rawValue), id: auditID)
            return (ban, plan.impact)
        }
    }

    private func terminateSessions(_ plan: BanPlanner.Plan, by ban: Ban, in transaction: any Transaction) throws {
        let sessions = SessionRepository(transaction)
        let changes = ChangeLog(transaction)
        for user in plan.banned {
            try sessions.end(.user(user), at: transaction.now, reason: "banned")
            try changes.announce(.bannedUser(user))
            guard let provider = try UserRepository(transaction).find(user)?.providerID else { continue }
            try ProviderWebhookRepository(transaction).tell(.accountDisabled, of: user, to: provider)
        }
        for device in plan.devices {
            try sessions.end(.device(device), at: transaction.now, reason: "banned")
            try changes.announce(.device(device))
        }
    }

    private func ban(_ order: BanOrder, _ id: BanID, at now: Date) -> Ban {
        Ban(
            id: id, kind: order.target.kind, scope: order.scope, reason: order.reason, actor: actor, createdAt: now,
            endsAt: order.endsAt, lifted: nil)
    }

    private static func detail(_ ban: Ban, _ impact: BanImpact) -> String {
        """
        ban \(ban.id), \(ban.kind.rawValue), \(ban.scope.rawValue), \(ban.reason.rawValue), \
        \(ban.endsAt.map { "until \($0.rfc3339)" } ?? "for good"): \(impact.users.count) users, \
        \(impact.sessions.count) sessions, \(impact.devices.count) devices, \(impact.authorizations) authorizations
        """
    }
}
