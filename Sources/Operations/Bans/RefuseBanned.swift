import Database
import Domain
import Encoding
import Foundation
import Repositories

/// Tells a banned user so at sign-in, and lets that user see and erase what is held.
package struct RefuseBanned: Sendable {
    private let key: ExportKey

    /// Makes export tokens under a key.
    package init(key: ExportKey) {
        self.key = key
    }

    /// The hold that keeps a user from signing in; `nil` where there is none.
    static func ruling(on user: UserID, in transaction: any Transaction) throws -> BanEntry? {
        BanEntry.ruling(try BanRepository(transaction).holdsInForce(on: user), on: .all, at: transaction.now)
    }

    /// What a transaction decides of a sign-in: a refusal inside it would give the nonce back.
    enum Admission<Value: Sendable>: Sendable {
        case admitted(Value)
        case banned(UserID, BanEntry, at: Date)
    }

    /// What was admitted.
    ///
    /// - Throws: `Refusal` `user_banned`.
    func requireAdmitted<Value>(
        _ admission: Admission<Value>, on connection: ClientConnection
    ) throws(Refusal) -> Value {
        switch admission {
        case .admitted(let value): return value
        case .banned(let user, let hold, let now): throw refusal(hold, of: user, on: connection, now: now)
        }
    }

    /// What the holder of a banned user's proof is told, with the token for the own data.
    private func refusal(_ hold: BanEntry, of user: UserID, on connection: ClientConnection, now: Date) -> Refusal {
        let end = hold.endsAt.map { "until \($0.rfc3339)" } ?? "for good"
        return Refusal(
            .userBanned, "This user is banned \(end); the export token shows and erases what is held on the user.",
            banReason: hold.ban.reason, until: hold.endsAt,
            exportToken: ExportToken.issue(for: user, now: now, thumbprint: connection.thumbprint, key: key))
    }

    /// What a user is told whose session is still there while the ban holds.
    static func refusal(ofUser hold: BanEntry) -> Refusal {
        let end = hold.endsAt.map { "until \($0.rfc3339)" } ?? "for good"
        return Refusal(
            .userBanned, "This user is banned \(end).", banReason: hold.ban.reason, until: hold.endsAt)
    }

    /// What a user is told within a session who may sign in, and nothing more.
    static func messagingRefusal(_ hold: BanEntry) -> Refusal {
        let end = hold.endsAt.map { "until \($0.rfc3339)" } ?? "for good"
        return Refusal(
            .userBanned, "You may not ask or answer others \(end).", banReason: hold.ban.reason,
            until: hold.endsAt)
    }

    /// The user whose data an export token opens on a connection.
    ///
    /// - Throws: `Refusal` `session_required` or `session_expired`.
    package func holder(
        of exportToken: String, on connection: ClientConnection, now: Date
    ) throws(Refusal) -> UserID {
        try ExportToken(shown: exportToken, thumbprint: connection.thumbprint, key: key, now: now).userID
    }

    /// Refuses a device that is banned.
    ///
    /// - Throws: `Refusal` `certificate_revoked`.
    static func requireUnbanned(_ device: DeviceID, in transaction: any Transaction) throws {
        let holds = try BanRepository(transaction).holds(on: [.device(device)])
        if let hold = BanEntry.ruling(holds, on: .all, at: transaction.now) { throw refusal(of: hold) }
    }

    /// What a banned device is told: as of a revoked certificate.
    static func refusal(of hold: BanEntry) -> Refusal {
        let end = hold.endsAt.map { "until \($0.rfc3339)" } ?? "for good"
        return Refusal(.certificateRevoked, "This device is banned \(end).")
    }
}
