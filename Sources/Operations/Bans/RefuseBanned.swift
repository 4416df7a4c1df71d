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

    /// The ban that keeps a user from signing in; `nil` where there is none.
    static func activeBan(on user: UserID, in transaction: any Transaction) throws -> BanEntry? {
        BanEntry.activeBan(
            among: try BanRepository(transaction).holdsInForce(on: user), for: .all, at: transaction.now)
    }

    /// For how long after its end an entry is looked for still, seconds: a clock that was ahead for a while, and is set
    /// right, must find it.
    static let margin: TimeInterval = 86_400

    /// The same at a sign-in. If no entry is in force or was a day ago, the next one need not look.
    ///
    /// - Throws: `Refusal` `unavailable` while the user's data is being erased: what comes anew would go with it.
    static func activeBan(atSignInOf user: UserID, in transaction: any Transaction) throws -> BanEntry? {
        if try ErasureRepository(transaction).isUnderWay(user) {
            throw Refusal.erasureUnderWay
        }
        let entries = try BanRepository(transaction).holdsInForce(on: user, margin: margin)
        if entries.isEmpty { try GenerationRepository(transaction).setMayBeBanned(false, .user(user)) }
        return BanEntry.activeBan(among: entries, for: .all, at: transaction.now)
    }

    /// What a transaction decides of a sign-in: a refusal inside it would give the nonce back.
    enum Admission<Value: Sendable>: Sendable {
        case admitted(Value)
        case banned(UserID, BanEntry, at: Date)
    }

    /// What was admitted.
    ///
    /// - Throws: `Refusal` `user_banned`.
    func requireAdmitted<Value>(_ admission: Admission<Value>, thumbprint: Digest256) throws(Refusal) -> Value {
        switch admission {
        case .admitted(let value): return value
        case .banned(let user, let entry, let now):
            throw .signInBanned(
                by: entry, exportToken: ExportToken.issue(for: user, now: now, thumbprint: thumbprint, key: key))
        }
    }

    /// The user whose data an export token opens to a device with a certificate.
    ///
    /// - Throws: `Refusal` `session_required` or `session_expired`.
    package func holder(of exportToken: String, thumbprint: Digest256, now: Date) throws(Refusal) -> UserID {
        try ExportToken(shown: exportToken, thumbprint: thumbprint, key: key, now: now).userID
    }

    /// Refuses a device that is banned.
    ///
    /// - Throws: `Refusal` `certificate_revoked`.
    static func requireUnbanned(_ device: DeviceID, in transaction: any Transaction) throws {
        try requireUnbanned(device, by: BanRepository(transaction).entries(on: [.device(device)]), at: transaction.now)
    }

    /// The same at a sign-in. If no entry is in force or was a day ago, the next one need not look.
    ///
    /// - Throws: `Refusal` `certificate_revoked`.
    static func requireUnbanned(atSignInOn device: DeviceID, in transaction: any Transaction) throws {
        let entries = try BanRepository(transaction).entries(on: [.device(device)])
        try requireUnbanned(device, by: entries, at: transaction.now)
        if !entries.contains(where: { $0.isActive(at: transaction.now.addingTimeInterval(-margin)) }) {
            try GenerationRepository(transaction).setMayBeBanned(false, .device(device))
        }
    }

    private static func requireUnbanned(_ device: DeviceID, by entries: [BanEntry], at now: Date) throws(Refusal) {
        if let entry = BanEntry.activeBan(among: entries, for: .all, at: now) { throw Refusal.deviceBanned(by: entry) }
    }
}
