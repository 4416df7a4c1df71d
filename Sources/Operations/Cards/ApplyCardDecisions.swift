import Database
import Domain
import Foundation
import Repositories

/// Puts the decisions of reviewers into force that can no longer be undone.
///
/// Each has a serializable transaction of its own, because an acceptance reads bans, cards and numbers. It is done once,
/// whichever process does it, and a card that cannot be opened does not delay the others.
struct ApplyCardDecisions: Sendable {
    private let context: Service

    init(_ context: Service) {
        self.context = context
    }

    /// The maximum number of decisions in one turn of the task.
    static let mostInTurn = 100

    /// A node looks for due tasks every few seconds, and a decision is in force with its next look.
    var task: MaintenanceTask {
        MaintenanceTask("card_decisions", every: 2, preparing: { try await apply() }, batch: { _, _ in .all(0) })
    }

    /// Applies due decisions, oldest first. Returns whether more may be left.
    ///
    /// - Throws: the first failure, after all others were tried.
    private func apply() async throws -> Bool {
        let due = try await context.read { try IdentityCardRepository($0).listDue(limit: Self.mostInTurn) }
        var failure: (any Error)?
        for id in due {
            do {
                try await apply(id)
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return due.count == Self.mostInTurn
    }

    private func apply(_ id: IdentityCardID) async throws {
        let keys = context.keys.personal
        try await context.write { transaction, events in
            let cards = IdentityCardRepository(transaction)
            guard let entry = try cards.find(id), let decision = try cards.pendingDecision(id),
                decision.effectiveAt <= transaction.now
            else { return }
            let consequences = CardDecision(keys: keys, transaction: transaction)
            if decision.status == .verified {
                do {
                    _ = try consequences.requireAcceptable(entry)
                } catch let cause as Refusal {
                    // The document was banned meanwhile, or the number is another user's now. A reviewer decides again.
                    _ = try cards.removeDecision(id)
                    return events.record(.cardDecisionDropped(entry.userID, id, because: cause), by: decision.actor)
                }
            }
            guard try cards.applyDecision(id) else { return }
            try consequences.follow(decision.status, on: entry, by: decision.actor, &events)
        }
    }
}
