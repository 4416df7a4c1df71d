import Database
import Domain
import Repositories

extension Service {
    /// Reads for the holder of a session that was let in before, if the store still lets them in.
    ///
    /// - Throws: `Refusal` as ``act(for:inTurn:ahead:_:)``.
    func read<T: Sendable>(
        for shown: Session, ahead: SessionHolder.Ahead? = nil,
        _ body: @Sendable @escaping (any Transaction, SessionHolder) throws -> T
    ) async throws -> T {
        try await read { try body($0, SessionHolder(shown, in: $0, ahead)) }
    }

    /// Writes for the holder of a session that was let in before. Between that and this the session may have been ended,
    /// challenged or renewed, the user banned, the certificate revoked: then nothing is written.
    ///
    /// - Parameter turn: what it has in common with others that read and change the same rows.
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

    /// Writes for a device that shows a user's export token, since no session is left to act in.
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

/// The holder of a session that may act in this transaction: whoever has one has looked.
///
/// The session's clocks are not compared again. They were when the request began, and the request is no older than its
/// time-out; what another act has decided meanwhile is respected.
struct SessionHolder {
    /// What a body is going to ask whoever holds the session: see `Transaction/ahead(_:)`. It goes with the look at the
    /// session, when the transaction has no time yet.
    typealias Ahead = @Sendable (any Transaction) throws -> Void

    /// The user, as the store knows them now.
    let user: User
    /// The session, as the store knows it now.
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
