import Database
import Domain
import Encoding
import Foundation
import Repositories

package extension Administration {
    /// Challenges every session of a user, who must sign in again; returns their number.
    ///
    /// - Throws: `Refusal` `not_found`.
    func challengeUser(_ name: String, reason: AuditReason?) async throws -> Int {
        return try await write(.support) { transaction, events in
            let user = try UserSummary.find(name, in: transaction).user.id
            let challenged = try SessionRepository(transaction).challenge(.user(user), at: transaction.now)
            events.record(.userChallenged(user), by: actor, because: reason)
            return challenged
        }
    }

    /// Ends every session of a user, who may sign in again.
    ///
    /// - Returns: the number of sessions that ended at once. Those beyond 100 end in the background, but are not valid
    ///   from now on.
    /// - Throws: `Refusal` `not_found`.
    func endSessions(of name: String, reason: AuditReason) async throws -> Int {
        try await write(.support) { transaction, events in
            let user = try UserSummary.find(name, in: transaction).user.id
            return try RevokeSessions(transaction: transaction)(
                .user(user), .byAdmin, &events, by: actor, because: reason)
        }
    }

    /// Erases a user; returns the id of the audit entry.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` with the state `waiting` if it needs a second administrator.
    func eraseUser(_ name: String, reason: AuditReason) async throws -> UUID {
        let (receipt, actID): (UUID, WaitingActID) = (environment.newUUID(), environment.newIdentifier())
        let erase = EraseUser(keys: try personalKeys(), actor: actor, reason: reason)
        let outcome: RequestedAct.Outcome<UUID> = try await write(.manage) { transaction, events in
            let user = try UserSummary.find(name, in: transaction).user.id
            let act = RequestedAct(
                id: actID, kind: .erasure, subject: AuditSubject(.user, user),
                content: .object(["user": .string(user.description)]), users: 1, reason: reason)
            if try mustWait(act, in: transaction, &events) { return .waits(actID) }
            try erase(user, receipt: receipt, in: transaction, &events)
            return .done(receipt)
        }
        return try outcome.value()
    }

    /// All stored data of a user. The access is audited, with admin and reason.
    ///
    /// - Parameter reason: why the admin reads it; stored in the audit log.
    /// - Throws: `Refusal` `not_found`.
    func exportUser(_ name: String, reason: AuditReason) async throws -> PersonalExport {
        let keys = try personalKeys()
        return try await write(.manage) { transaction, events in
            let summary = try UserSummary.find(name, in: transaction)
            events.record(
                .personalDataRead(subject: AuditSubject(.user, summary.user.id), detail: nil), by: actor,
                because: reason)
            return try PersonalExport.collect(summary.user, address: summary.address, keys: keys, in: transaction)
        }
    }
}
