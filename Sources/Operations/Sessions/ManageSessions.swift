import Database
import Domain
import Foundation
import Repositories

package extension Administration {
    /// The users, devices, providers or keys whose sessions are listed.
    enum SessionSelection: Sendable {
        case all
        /// By id, or by `<provider slug>/<external id>`.
        case user(String)
        case device(DeviceID)
        /// By the provider's slug or id.
        case provider(String)
        /// The sessions that a provider's key opened or last renewed.
        case key(ProviderKeyID)
    }

    /// The newest sessions that have not ended.
    ///
    /// - Parameters:
    ///   - cursor: the id of the last session on the previous page, which may have ended meanwhile.
    ///   - moment: the time before which sessions are left out; `nil` for all.
    /// - Throws: `Refusal` `not_found` for a user, device, provider, key or cursor.
    func listSessions(
        limit: Int, after cursor: SessionID? = nil, _ scope: SessionSelection = .all, since moment: Date? = nil
    ) async throws -> [Session] {
        try await read(.support) { transaction in
            let sessions = SessionRepository(transaction)
            if let cursor, try sessions.find(cursor) == nil { throw Refusal.cursorGone(cursor.description) }
            func few(_ scope: SessionScope) throws -> [Session] {
                let open = try sessions.listOpen(scope).sorted { $0.id.description > $1.id.description }
                let rest = open.drop { session in cursor.map { session.id.description >= $0.description } ?? false }
                return Array(rest.filter { $0.createdAt >= moment ?? .distantPast }.prefix(limit))
            }
            switch scope {
            case .user(let name): return try few(.user(try UserSummary.find(name, in: transaction).user.id))
            case .device(let id):
                guard try DeviceRepository(transaction).exists(id) else {
                    throw Refusal.unknownDevice(id)
                }
                return try few(.device(id))
            case .all, .provider, .key:
                guard let signer = try Self.signer(scope, in: transaction) else { return [] }
                return try sessions.listOpen(limit: limit, after: cursor, of: signer, since: moment)
            }
        }
    }

    /// The sessions that ended last.
    ///
    /// - Parameters:
    ///   - cursor: the id of the last session on the previous page.
    ///   - scope: all, or those of a provider or key.
    ///   - moment: the time before which ends are left out; `nil` for all.
    /// - Throws: `Refusal` `not_found` for a provider, key or cursor; `malformed_request` for another scope.
    func listEndedSessions(
        limit: Int, after cursor: SessionID? = nil, _ scope: SessionSelection = .all, since moment: Date? = nil
    ) async throws -> [PastSession] {
        try await read(.support) { transaction in
            guard let signer = try Self.signer(scope, in: transaction) else { throw Refusal.endedByUserOrDevice }
            return try SessionRepository(transaction).listEnded(
                limit: limit, after: cursor, of: signer, since: moment)
        }
    }

    /// `nil` for a user or device.
    private static func signer(
        _ scope: SessionSelection, in transaction: any Transaction
    ) throws -> SessionRepository.Signer? {
        switch scope {
        case .all: return .all
        case .provider(let name): return .provider(try ProviderRepository(transaction).require(name).id)
        case .key(let id):
            guard try ProviderKeyRepository(transaction).find(id) != nil else { throw Refusal.unknownKey(id) }
            return .key(id)
        case .user, .device: return nil
        }
    }

    /// The session with an id, including ended ones.
    ///
    /// - Throws: `Refusal` `not_found`.
    func readSession(_ id: SessionID) async throws -> Session {
        try await read(.support) { try SessionRepository($0).require(id) }
    }

    /// Challenges a session by an admin. Its user must sign in again.
    ///
    /// - Throws: `Refusal` `not_found`, `conflict` with the state that forbids it.
    func challengeSession(_ id: SessionID, reason: AuditReason? = nil) async throws {
        try await write(.support) { transaction, events in
            let records = SessionRepository(transaction)
            let session = try records.require(id)
            guard session.state.after(.challenge, while: .disconnected, by: .service) != nil,
                try records.challenge(.session(id), at: transaction.now) > 0
            else {
                throw Refusal.sessionIs(session.state.rawValue)
            }
            events.record(.sessionChallenged(session), by: actor, because: reason)
        }
    }

    /// Ends a session by an admin.
    ///
    /// - Throws: `Refusal` `not_found`, `conflict` with the state that forbids it.
    func endSession(_ id: SessionID, reason: AuditReason? = nil) async throws {
        try await write(.support) { transaction, events in
            let records = SessionRepository(transaction)
            let session = try records.require(id)
            guard session.state.after(.destroy, while: .disconnected, by: .service) != nil,
                let ended = try records.end(.session(id), at: transaction.now, .byAdmin).first
            else {
                throw Refusal.sessionIs(session.state.rawValue)
            }
            events.record(.sessionEnded(ended, .byAdmin), by: actor, because: reason)
        }
    }
}

extension SessionRepository {
    fileprivate func require(_ id: SessionID) throws -> Session {
        guard let session = try find(id) else { throw Refusal.unknownSession(id) }
        return session
    }
}
