import Database
import Domain
import Repositories

/// Ends all sessions that hang on something, in the transaction of whoever may: its generation rises, and with the commit
/// they are over on every node, whatever their number.
///
/// Rows follow. Some of a user or device, who have few as a rule, are ended here; all others, and those of a provider or
/// a key, are left to ``EndRevokedSessions``: a transaction that read them would disturb every sign-in of that provider.
struct RevokeSessions {
    let transaction: any Transaction

    /// How many rows end at once.
    static let atOnce = 100

    /// Cuts.
    ///
    /// - Returns: how many sessions have ended, as far as that is known here.
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
        // Whole or not: a sign-in under way, which this transaction does not see, may add a row behind it.
        try BulkRevocationRepository(transaction).insert(scope, why)
        events.record(.sessionsRevoked(scope, ended, why, isWhole: isWhole), by: actor, because: reason)
        return ended.count
    }
}

extension RevocationScope {
    /// Whether no more than one person's or one device's sessions hang on it.
    fileprivate var isPersonal: Bool {
        switch self {
        case .user, .device: true
        case .provider, .providerKey: false
        }
    }
}
