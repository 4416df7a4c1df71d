import Database
import Domain
import Encoding
import Foundation
import Repositories

/// Refuses a banned user at sign-in, and lets the user read and erase their own data.
struct RefuseBanned: Sendable {
    private let key: ExportKey

    /// - Parameter key: the key that authenticates export tokens.
    init(key: ExportKey) {
        self.key = key
    }

    /// The ban that forbids sign-in to a user; `nil` if there is none.
    static func activeBan(on user: UserID, in transaction: any Transaction) throws -> BanEntry? {
        BanEntry.activeBan(
            among: try BanRepository(transaction).holdsInForce(on: user), for: .all, at: transaction.now)
    }

    /// How long expired entries are still checked, in seconds, in case the clock was ahead and is corrected.
    static let margin: TimeInterval = 86_400

    /// The active ban at a sign-in. If no entry was in force during the last day, later sign-ins need not check again.
    ///
    /// - Throws: `Refusal` `unavailable` while the user's data is being erased, because new data would be erased with
    ///   it. `invalid_identity_token` with reason `app_forbidden` if the user forbids the app.
    static func activeBan(
        atSignInOf user: UserID, by app: ApplicationID, in transaction: any Transaction
    ) throws -> BanEntry? {
        if try ErasureRepository(transaction).isUnderWay(user) {
            throw Refusal.erasureUnderWay
        }
        let entries = try BanRepository(transaction).holdsInForce(on: user, margin: margin)
        if entries.isEmpty { try GenerationRepository(transaction).setMayBeBanned(false, .user(user)) }
        if let ban = BanEntry.activeBan(among: entries, for: .all, at: transaction.now) { return ban }
        if try ForbiddenAppRepository(transaction).forbids(app, to: user) { throw Refusal.appForbidden }
        return nil
    }

    /// The decision of a transaction about a sign-in. A refusal thrown inside the transaction would restore the nonce.
    enum Admission<Value: Sendable>: Sendable {
        case admitted(Value)
        case banned(UserID, BanEntry, at: Date)
    }

    /// Returns the admitted value.
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

    /// The user of an export token that a device with a certificate shows.
    ///
    /// - Throws: `Refusal` `session_required` or `session_expired`.
    func holder(of exportToken: String, thumbprint: Digest256, now: Date) throws(Refusal) -> UserID {
        try ExportToken(shown: exportToken, thumbprint: thumbprint, key: key, now: now).userID
    }

    /// Refuses a banned device.
    ///
    /// - Throws: `Refusal` `certificate_revoked`.
    static func requireUnbanned(_ device: DeviceID, in transaction: any Transaction) throws {
        try requireUnbanned(device, by: BanRepository(transaction).entries(on: [.device(device)]), at: transaction.now)
    }

    /// Refuses a banned device at a sign-in. If no entry was in force during the last day, later sign-ins need not
    /// check again.
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
