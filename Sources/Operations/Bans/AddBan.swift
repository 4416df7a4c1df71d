import Database
import Domain
import Encoding
import Foundation
import Repositories

package extension Administration {
    /// A ban would affect more users than the admin agreed to. Nothing was changed.
    struct UnconfirmedBan: Error, Equatable {
        package let users: Int
    }

    /// The impact that a ban would have. Nothing is changed, but a look by number or document is recorded.
    ///
    /// - Throws: as `addBan(_:by:upTo:urgency:)`.
    func previewBan(_ order: BanOrder, by policy: BanPolicy = BanPolicy()) async throws -> BanImpact {
        let id: BanID = environment.newIdentifier()
        let planner = BanPlanner(keys: try personalKeys(), policy: policy)
        return try await read(
            lookingFor: order.target, because: AuditReason(order.reason.rawValue), revealing: { $0.subjects },
            { transaction, look in
                try planner.plan(order, as: ban(order, id, at: transaction.now), in: transaction, by: look).impact
            })
    }

    /// Bans a user, a number, a document or a device. One transaction writes the ban, ended sessions, withdrawn
    /// authorizations, the audit entry, and the change by which all processes close the connections.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of users affected that the admin confirmed; `nil` for any number.
    ///   - urgency: why the ban does not wait for a second administrator if it needs one; `nil` if it can wait.
    /// - Throws: `Refusal` `not_found`; `conflict` if an active ban on the subject is at least as strict (state
    ///   `active`) and must not be replaced, or if the ban waits (state `waiting`);
    ///   `Administration/UnconfirmedBan`.
    func addBan(
        _ order: BanOrder, by policy: BanPolicy = BanPolicy(), upTo limit: Int?, urgency: AuditReason? = nil
    ) async throws -> (ban: Ban, impact: BanImpact) {
        let (id, actID): (BanID, WaitingActID) = (environment.newIdentifier(), environment.newIdentifier())
        let keys = try personalKeys()
        let planner = BanPlanner(keys: keys, policy: policy)
        typealias Outcome = RequestedAct.Outcome<(ban: Ban, impact: BanImpact)>
        let outcome: Result<Outcome, any Error> = try await write(.manage) { transaction, events in
            let ban = ban(order, id, at: transaction.now)
            func isAgreed(_ plan: BanPlanner.Plan) -> Bool { limit.map { plan.impact.users.count <= $0 } ?? true }
            let looked = try look(
                for: order.target, because: AuditReason(ban.reason.rawValue), &events,
                revealing: { isAgreed($0) ? nil : $0.impact.subjects },
                { try planner.plan(order, as: ban, in: transaction, by: $0) })
            let plan: BanPlanner.Plan
            switch looked {
            case .failure(let refusal): return .failure(refusal)
            case .success(let found): plan = found
            }
            let users = plan.impact.users.count
            guard isAgreed(plan) else { return .failure(UnconfirmedBan(users: users)) }
            let act = RequestedAct(
                id: actID, kind: .ban, subject: plan.subject, content: order.content(plan.entries), users: users,
                reason: AuditReason(ban.reason.rawValue))
            if try mustWait(act, urgency: urgency, in: transaction, &events) {
                guard order.note == nil else { throw Refusal.noteOfWaitingBan }
                return .success(.waits(actID))
            }
            try impose(plan, of: order, as: ban, keys, in: transaction, &events)
            return .success(.done((ban, plan.impact)))
        }
        return try outcome.get().value()
    }
}

extension Administration {
    /// Writes a planned ban and its consequences.
    func impose(
        _ plan: BanPlanner.Plan, of order: BanOrder, as ban: Ban, _ keys: PersonalKeys,
        in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws {
        let records = BanRepository(transaction)
        try records.insert(ban)
        for entry in plan.entries { try records.insert(entry) }
        if let note = order.note { try BanMaintenance(transaction).setNote(note, .note, of: ban.id, keys: keys) }
        if ban.scope == .all { try terminateSessions(plan, in: transaction, &events) }
        // After inserting the new ban, so there is no gap.
        for present in plan.replaced {
            try lift(present, note: "replaced by ban \(ban.id)", keys, in: transaction, &events)
        }
        let authorizations = AuthorizationRepository(transaction)
        let addresses = FindableAddressRepository(transaction)
        for user in plan.banned {
            try authorizations.withdraw(allOf: user, because: .banned, at: transaction.now)
            try addresses.erase(user)
            // A ban of sessions announces the user anyway.
            if ban.scope == .messaging { events.record(.presenceChanged(of: [user])) }
        }
        events.record(
            .banAdded(subject: plan.subject, detail: Self.detail(ban, plan.impact)), by: actor,
            because: AuditReason(ban.reason.rawValue))
    }

    private func terminateSessions(
        _ plan: BanPlanner.Plan, in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws {
        let cut = RevokeSessions(transaction: transaction)
        let providers = Dictionary(uniqueKeysWithValues: plan.impact.users.map { ($0.user.id, $0.user.providerID) })
        for user in plan.banned {
            try cut(.user(user), .banned, &events)
            events.record(.userBanned(user, of: providers[user]))
        }
        for device in plan.devices {
            try cut(.device(device), .banned, &events)
            events.record(.deviceBanned(device))
        }
    }

    func ban(_ order: BanOrder, _ id: BanID, at now: Date) -> Ban {
        Ban(
            id: id, kind: order.target.kind, scope: order.scope, reason: order.reason, actor: actor,
            createdAt: now, endsAt: order.endsAt, lifted: nil)
    }

    private static func detail(_ ban: Ban, _ impact: BanImpact) -> String {
        """
        ban \(ban.id), \(ban.kind.rawValue), \(ban.scope.rawValue), \(ban.reason.rawValue), \
        \(ban.endsAt.map { "until \($0.rfc3339)" } ?? "for good"): \(impact.users.count.counting("user")), \
        \(impact.sessions.count.counting("session")), \(impact.devices.count.counting("device")), \
        authorizations: \(impact.authorizationsText)
        """
    }
}
