import Database
import Domain
import Encoding
import Foundation
import Repositories

/// An act that may need a second administrator.
struct RequestedAct: Sendable {
    let id: WaitingActID
    let kind: WaitingAct.Kind
    let subject: AuditSubject
    /// What is to be done, without personal data.
    let content: JSONValue
    /// The number of users that it affects, as far as it is known here.
    let users: Int
    let reason: AuditReason?

    /// The result of an operation whose act took effect, or the act that waits. Only after the commit is the second one a
    /// refusal, since a refusal within the transaction would undo the row.
    enum Outcome<Value: Sendable>: Sendable {
        case done(Value)
        case waits(WaitingActID)

        /// - Throws: `Refusal` `conflict` with the state `waiting`.
        func value() throws(Refusal) -> Value {
            switch self {
            case .done(let value): return value
            case .waits(let id): throw Refusal.waitsForSecond(id)
            }
        }
    }
}

extension Administration {
    /// Whether an act waits for a second administrator from now on. An urgent one takes effect now, and is shown to the
    /// others.
    ///
    /// It never waits if it is requested by an account without an administrator, which has all rights, or if there was no
    /// second administrator for an hour.
    ///
    /// - Parameter urgency: the reason to act at once; `nil` for an act that can wait.
    func mustWait(
        _ requested: RequestedAct, urgency: AuditReason? = nil, in transaction: any Transaction,
        _ events: inout RecordedEvents
    ) throws -> Bool {
        guard fourEyesOver > 0, let administrator, requested.kind != .ban || requested.users > fourEyesOver else {
            return false
        }
        let seconds = try AdministratorRepository(transaction).list().filter { $0.isSecond(at: transaction.now) }
        guard seconds.count >= 2 else { return false }
        let records = WaitingActRepository(transaction)
        try records.delete(through: transaction.now.addingTimeInterval(-WaitingAct.lifetime))
        let act = WaitingAct(
            id: requested.id, kind: requested.kind, subject: requested.subject.description,
            content: requested.content.jsonText, users: requested.users, reason: (urgency ?? requested.reason)?.text,
            requestedBy: administrator.id, createdAt: transaction.now, isUrgent: urgency != nil)
        try records.insert(act)
        guard let urgency else {
            events.record(.requested(act, of: requested.subject), by: actor, because: requested.reason)
            return true
        }
        events.record(.urgent(act, of: requested.subject), by: actor, because: urgency)
        return false
    }
}
