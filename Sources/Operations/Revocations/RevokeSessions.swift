import Database
import Domain
import Repositories

/// Ends all sessions of a scope, in the transaction of another change. The scope's generation rises, so with the commit
/// the sessions have ended on every node, whatever their number.
///
/// Their rows are updated later. Some rows of a user or device, which usually have few sessions, are updated here. All
/// others, and those of a provider or a key, are left to ``EndRevokedSessions``: a transaction that read them would
/// conflict with every sign-in of that provider.
struct RevokeSessions {
    let transaction: any Transaction

    /// The number of rows that are updated in the same transaction.
    static let atOnce = 100

    /// Raises the generation.
    ///
    /// - Returns: the number of ended sessions, as far as it is known here.
    @discardableResult
    func callAsFunction(
        _ scope: RevocationScope, _ why: SessionEnding, _ events: inout RecordedEvents, by actor: String = "service",
        because reason: AuditReason? = nil
    ) throws -> Int {
        let sessions = SessionRepository(transaction)
        let ended: [EndedSession]
        switch scope {
        case .user(let id): ended = try sessions.end(.user(id), at: transaction.now, why, limit: Self.atOnce)
        case .device(let id): ended = try sessions.end(.device(id), at: transaction.now, why, limit: Self.atOnce)
        case .provider, .providerKey: ended = []
        }
        try GenerationRepository(transaction).raise(scope)
        let isWhole = scope.isPersonal && ended.count < Self.atOnce
        // In any case, because a concurrent sign-in may add a row that this transaction does not see.
        try BulkRevocationRepository(transaction).insert(scope, why)
        events.record(.sessionsRevoked(scope, ended, why, isWhole: isWhole), by: actor, because: reason)
        return ended.count
    }
}

extension RevocationScope {
    /// Whether all of its sessions belong to one person or one device.
    fileprivate var isPersonal: Bool {
        switch self {
        case .user, .device: true
        case .provider, .providerKey: false
        }
    }
}
