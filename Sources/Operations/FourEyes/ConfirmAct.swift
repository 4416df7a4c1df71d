import Database
import Domain
import Encoding
import Foundation
import Repositories

package extension Administration {
    /// The acts of the last day that wait for a second administrator, or took effect at once because they were urgent,
    /// newest first, each with the name of the administrator who asked for it.
    func listWaitingActs() async throws -> [(act: WaitingAct, administrator: String)] {
        try await read(.manage) { transaction in
            let acts = try WaitingActRepository(transaction).list(
                after: transaction.now.addingTimeInterval(-WaitingAct.lifetime))
            guard !acts.isEmpty else { return [] }
            let names = Dictionary(
                try AdministratorRepository(transaction).list().map { ($0.id, $0.name) },
                uniquingKeysWith: { first, _ in first })
            return acts.map { (act: $0, administrator: names[$0.requestedBy] ?? "") }
        }
    }

    /// Puts an act into force that another administrator asked for. It is checked as if it were asked for now.
    ///
    /// - Parameters:
    ///   - note: the finding of a ban.
    ///   - policy: the one by which a ban is planned.
    /// - Throws: `Refusal` `not_found` if it does not wait; `conflict` for the own act, if this administrator
    ///   was added too late, if it affects more users than when it was asked for, and as the operation throws.
    func confirmAct(_ id: WaitingActID, note: String? = nil, by policy: BanPolicy = BanPolicy()) async throws {
        let keys = try personalKeys()
        let (banID, receipt): (BanID, UUID) = (environment.newIdentifier(), environment.newUUID())
        try await write(.manage) { transaction, events in
            let (act, requester) = try takeAct(id, in: transaction)
            let content = try StrictJSON.parse(act.content.utf8)
            switch act.kind {
            case .ban:
                guard let order = try BanOrder(content: content, note: note) else { throw Refusal.noWaitingAct(id) }
                let ban = ban(order, banID, at: transaction.now)
                let planner = BanPlanner(keys: keys, policy: policy)
                // A refusal is thrown, which leaves the act waiting. The request recorded the look.
                let plan = try look(
                    for: order.target, because: AuditReason(ban.reason.rawValue), &events, revealing: { _ in nil },
                    { try planner.plan(order, as: ban, in: transaction, by: $0) }
                ).get()
                guard plan.impact.users.count <= act.users else {
                    throw Refusal.actAffectsMore(plan.impact.users.count, than: act.users)
                }
                try impose(plan, of: order, as: ban, keys, in: transaction, &events)
            case .erasure:
                let user = try UserSummary.find(content["user"]?.text ?? "", in: transaction).user.id
                let erase = EraseUser(
                    keys: keys, actor: actor, reason: act.reason.flatMap { AuditReason($0) } ?? "second_administrator")
                try erase(user, receipt: receipt, in: transaction, &events)
            case .disabling:
                let provider = try ProviderRepository(transaction).require(content["provider"]?.text ?? "").id
                try disable(provider, because: act.reason.flatMap { AuditReason($0) }, in: transaction, &events)
            }
            events.record(.confirmed(act, requestedBy: requester), by: actor)
        }
    }

    /// Takes an act out of the waiting ones for its confirmation, and returns the name of the administrator who asked for it.
    private func takeAct(
        _ id: WaitingActID, in transaction: any Transaction
    ) throws -> (act: WaitingAct, requester: String) {
        let records = WaitingActRepository(transaction)
        guard let act = try records.find(id), act.isWaiting(at: transaction.now) else {
            throw Refusal.noWaitingAct(id)
        }
        guard administrator?.id != act.requestedBy else { throw Refusal.ownWaitingAct }
        guard administrator.map(act.mayBeConfirmed) ?? true else { throw Refusal.newSecondAdministrator }
        guard let requester = try AdministratorRepository(transaction).find(act.requestedBy) else {
            throw Refusal.noWaitingAct(id)
        }
        guard requester.removedAt == nil, requester.role.includes(.manage) else {
            throw Refusal.requesterLostRole(requester.name)
        }
        guard try records.delete(id) else { throw Refusal.noWaitingAct(id) }
        return (act, requester.name)
    }
}
