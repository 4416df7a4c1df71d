import Database
import Domain
import Repositories

package extension Service {
    /// All stored data of a session's user.
    ///
    /// - Throws: `Refusal` `session_challenged` if the session is older than ten minutes; `rate_limited`.
    func exportPersonalData(for session: Session) async throws -> PersonalExport {
        try requireFresh(session)
        let (keys, limit) = (keys.personal, exportLimit)
        try await act(for: session) { transaction, holder, events in
            try Self.note(holder.user.id, limit, in: transaction, &events)
        }
        return try await read(for: session) { transaction, holder in
            try Self.collect(holder.user.id, keys, in: transaction)
        }
    }

    /// All stored data of a user whose export token was sent on a connection.
    ///
    /// - Throws: `Refusal` `certificate_revoked`, `rate_limited`.
    func exportPersonalData(of user: UserID, on connection: ClientConnection) async throws -> PersonalExport {
        let (keys, limit) = (keys.personal, exportLimit)
        try await act(on: connection) { transaction, events in
            try Self.note(user, limit, in: transaction, &events)
        }
        return try await read { try Self.collect(user, keys, in: $0) }
    }

    private var exportLimit: RateLimit? {
        rateLimiting == .on
            ? RateLimit(count: policy[\.requests].exportsPerHour, per: 3600) : nil
    }

    /// Counts the export and writes its audit entry. Both stay, whatever the result of the export.
    private static func note(
        _ user: UserID, _ limit: RateLimit?, in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws {
        if let limit { try RateRepository(transaction).count("export \(user)", limit: limit) }
        events.record(
            .personalDataRead(subject: AuditSubject(.user, user), detail: "export"), by: "user \(user)",
            because: "user_request")
    }

    /// Decrypts the data outside the writing transaction, so no writer waits for it.
    private static func collect(
        _ user: UserID, _ keys: PersonalKeys, in transaction: any Transaction
    ) throws -> PersonalExport {
        let summary = try UserSummary.find(user.description, in: transaction)
        return try PersonalExport.collect(summary.user, address: summary.address, keys: keys, in: transaction)
    }
}
