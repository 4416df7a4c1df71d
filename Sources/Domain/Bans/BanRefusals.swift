import Encoding
import Foundation

package extension Refusal {
    /// For a banned device. Its certificate is refused like a revoked one.
    static func deviceBanned(by entry: BanEntry) -> Refusal {
        Refusal(.certificateRevoked, "This device is banned \(entry.duration).")
    }

    /// For a banned user whose session has not been ended yet.
    static func userBanned(by entry: BanEntry) -> Refusal {
        Refusal(
            .userBanned, "This user is banned \(entry.duration).", banReason: entry.ban.reason,
            until: entry.endsAt)
    }

    /// For a banned user at sign-in. The token allows export and erasure of the user's own data.
    static func signInBanned(by entry: BanEntry, exportToken: Secret<String>) -> Refusal {
        Refusal(
            .userBanned,
            "This user is banned \(entry.duration). With the export token the app can export or erase the user's data.",
            banReason: entry.ban.reason, until: entry.endsAt, exportToken: exportToken)
    }

    /// For a user who may sign in, but not use messaging.
    static func messagingBanned(by entry: BanEntry) -> Refusal {
        Refusal(
            .userBanned, "You are banned from messaging \(entry.duration).", banReason: entry.ban.reason,
            until: entry.endsAt)
    }

    // MARK: Commands about bans

    static func unknownBan(_ id: BanID) -> Refusal {
        Refusal(.notFound, "There is no ban \(id). Check the id.")
    }

    /// - Parameter other: an active ban on another subject that includes this one.
    static func notBanned(_ kind: String, heldBy other: BanID?) -> Refusal {
        let hint = other.map { "Ban \($0) on another subject includes it. Lift that ban." } ?? "Check its spelling."
        return Refusal(.notFound, "There is no active ban on this \(kind). \(hint)")
    }

    static func banIsOver(state: String) -> Refusal {
        Refusal(.conflict, "The ban is already \(state). Nothing is left to lift.", state: state)
    }

    static func alreadyBanned(_ kind: String, by ban: Ban) -> Refusal {
        let end = ban.endsAt.map { "until \($0.rfc3339)" } ?? "for good"
        return Refusal(
            .conflict, "Ban \(ban.id) is active on this \(kind) \(end). Lift it first, or replace it.",
            state: Ban.State.active.rawValue)
    }

    static let devicesWithoutUser = Refusal(
        .malformedRequest, "Only a ban of a user can include devices. Ban the user, or leave the devices out.")

    static let unreadableDocument = Refusal(
        .malformedRequest,
        "A document is ISSUER:NUMBER, such as VA:T64235789 or FRA:14AB12345. The issuer is the two letters of a state or "
            + "province, or the code of a country as its machine-readable zones have it, such as FRA, or D for Germany."
    )

    static func bansUnreadable(_ privateDetail: String) -> Refusal {
        Refusal(
            .unavailable, "Bans cannot be looked up at this moment. Nothing was changed. Try again.", retryAfter: 30,
            privateDetail: privateDetail)
    }

    static let erasureUnderWay = Refusal(
        .unavailable, "The user's data is being erased at this moment. Sign in again in a moment.", retryAfter: 5)

    static let numberBanned = Refusal(
        .userBanned, "This number is banned and cannot be verified. Verify another number.")

    /// It has no reason: a barcode is easily forged, and the ban concerns the document's real holder.
    static let documentBanned = Refusal(
        .userBanned, "This document is banned and cannot prove an identity. Show another one.")
}

extension BanEntry {
    fileprivate var duration: String { endsAt.map { "until \($0.rfc3339)" } ?? "for good" }
}
