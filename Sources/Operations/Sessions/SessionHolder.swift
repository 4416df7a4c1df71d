import Database
import Domain
import Repositories

extension Service {
    /// Reads for the holder of an admitted session, if the store still admits the session.
    ///
    /// - Throws: `Refusal` as ``act(for:inTurn:ahead:_:)``.
    func read<T: Sendable>(
        for shown: Session, ahead: SessionHolder.Ahead? = nil,
        _ body: @Sendable @escaping (any Transaction, SessionHolder) throws -> T
    ) async throws -> T {
        try await read { try body($0, SessionHolder(shown, in: $0, ahead)) }
    }

    /// Writes for the holder of an admitted session. If the session was ended, challenged or renewed meanwhile, the
    /// user banned, or the certificate revoked, nothing is written.
    ///
    /// - Parameter turn: the turn of writers that read and change the same rows.
    /// - Throws: `Refusal` with the session codes, `certificate_revoked` or `user_banned`; what the body throws.
    @discardableResult
    func act<T: Sendable>(
        for shown: Session, inTurn turn: Turn? = nil, ahead: SessionHolder.Ahead? = nil,
        _ body: @Sendable @escaping (any Transaction, SessionHolder, inout RecordedEvents) throws -> T
    ) async throws -> T {
        try await write(inTurn: turn) { transaction, events in
            try body(transaction, SessionHolder(shown, in: transaction, ahead), &events)
        }
    }

    /// Writes for a device that shows a user's export token, because the user has no session.
    ///
    /// - Throws: `Refusal` `certificate_revoked`; what the body throws.
    @discardableResult
    func act<T: Sendable>(
        on connection: ClientConnection,
        _ body: @Sendable @escaping (any Transaction, inout RecordedEvents) throws -> T
    ) async throws -> T {
        let thumbprint = connection.thumbprint
        return try await write { transaction, events in
            guard let certificate = try CertificateRepository(transaction).find(thumbprint: thumbprint) else {
                throw Refusal.certificateUnknown
            }
            try certificate.requireValid(at: transaction.now)
            try RefuseBanned.requireUnbanned(certificate.deviceID, in: transaction)
            return try body(transaction, &events)
        }
    }
}

/// The holder of a session that is authenticated in this transaction. A value only exists after the check.
///
/// The session's lifetimes are not checked again. They were checked when the request began, and a request cannot be
/// older than its time limit. Changes by other requests are respected.
struct SessionHolder {
    /// The queries of a body for the session's holder: see `Transaction/ahead(_:)`. They are sent together with the
    /// check of the session, when the transaction has no time yet.
    typealias Ahead = @Sendable (any Transaction) throws -> Void

    /// The user in the store's current state.
    let user: User
    /// The session in the store's current state.
    let session: Session

    fileprivate init(_ shown: Session, in transaction: any Transaction, _ ahead: Ahead?) throws {
        if let ahead {
            try transaction.ahead {
                _ = try HolderRepository($0).holder(of: shown)
                try ahead($0)
            }
        }
        guard let found = try HolderRepository(transaction).holder(of: shown) else {
            throw Refusal.sessionEnded
        }
        guard let certificate = found.certificate else { throw Refusal.certificateUnknown }
        try certificate.requireValid(at: transaction.now)
        if found.mayDeviceBeBanned { try RefuseBanned.requireUnbanned(shown.deviceID, in: transaction) }
        try found.session.requireOpen(as: shown)
        if found.mayUserBeBanned, let entry = try RefuseBanned.activeBan(on: found.user.id, in: transaction) {
            throw Refusal.userBanned(by: entry)
        }
        user = found.user
        session = found.session
    }
}
