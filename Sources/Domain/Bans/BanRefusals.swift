import Encoding
import Foundation

extension Refusal {
    /// What a banned device is told: as of a revoked certificate.
    package static func deviceBanned(by entry: BanEntry) -> Refusal {
        Refusal(.certificateRevoked, "This device is banned \(entry.duration).")
    }

    /// What a user is told whose session is still there while the ban is in force.
    package static func userBanned(by entry: BanEntry) -> Refusal {
        Refusal(
            .userBanned, "This user is banned \(entry.duration).", banReason: entry.ban.reason,
            until: entry.endsAt)
    }

    /// What the holder of a banned user's proof is told at sign-in, with the token for the own data.
    package static func signInBanned(by entry: BanEntry, exportToken: Secret<String>) -> Refusal {
        Refusal(
            .userBanned,
            "This user is banned \(entry.duration); the export token shows and erases what is held on the user.",
            banReason: entry.ban.reason, until: entry.endsAt, exportToken: exportToken)
    }

    /// What a user is told within a session who may sign in, and nothing more.
    package static func messagingBanned(by entry: BanEntry) -> Refusal {
        Refusal(
            .userBanned, "You may not ask or answer others \(entry.duration).", banReason: entry.ban.reason,
            until: entry.endsAt)
    }
}

extension BanEntry {
    fileprivate var duration: String { endsAt.map { "until \($0.rfc3339)" } ?? "for good" }
}
