import Database
import Domain
import Foundation

/// What the tables tell of a user without opening any sealed column: times, ids and states. Each list is short, because
/// limits of the policy and of the record of sign-ins bound its rows.
package struct UserTraceRepository {
    private let transaction: any Transaction
    private let user: UserID
}

package extension UserTraceRepository {
    init(_ transaction: any Transaction, of user: UserID) {
        (self.transaction, self.user) = (transaction, user)
    }

    /// The most rows of a list that no limit bounds.
    static let most = 1000

    /// A proof of a number, without the number. It has no `verifiedAt` if no correct code has come.
    typealias Verification = (id: PhoneVerificationID, deviceID: DeviceID, createdAt: Date, verifiedAt: Date?)

    private static let verification = ColumnTuple(
        Column<PhoneVerificationID>("id"), Column<DeviceID>("device_id"), Column<Date>("created_at"),
        Column<Date?>("verified_at"))

    /// The user's latest proofs of numbers. They are kept for a day after they expire.
    func verifications() throws -> [Verification] {
        try transaction.query(
            """
            SELECT \(Self.verification) FROM phone_verifications WHERE user_id = $1
            ORDER BY created_at DESC, id LIMIT \(Self.most)
            """, [.id(user)]
        ).map { row in
            let (id, device, createdAt, verifiedAt) = try Self.verification.read(row)
            return (id, device, createdAt, verifiedAt)
        }
    }

    private static let proof = ColumnTuple(
        Column<Date>("phone_verified_at"), Column<Date?>("identity_verified_at"),
        Column<AuthenticatedUser.Suspension?>("suspended"))

    /// When the user last proved the number, and showed the card; why the number is no longer verified, `nil` if it is.
    func proofs() throws -> (phone: Date, identity: Date?, suspended: AuthenticatedUser.Suspension?)? {
        try transaction.first("SELECT \(Self.proof) FROM authenticated_users WHERE user_id = $1", [.id(user)]).map {
            let (phone, identity, suspended) = try Self.proof.read($0)
            return (phone, identity, suspended)
        }
    }

    private static let device = ColumnTuple(Column<DeviceID>("device_id"), Column<Date>("at"))

    /// A device that the user signed in on, within the time for which sign-ins are recorded.
    typealias Device = (id: DeviceID, firstAt: Date, lastAt: Date)

    /// The devices of the user's newest sessions and accepted sign-ins, each with its first and last time.
    ///
    /// - Parameter moment: the time before which uses are left out.
    func devices(since moment: Date?) throws -> [Device] {
        let start = Value.time(moment ?? .distantPast)
        let signIns = try transaction.query(
            """
            SELECT \(Self.device) FROM sign_ins WHERE user_id = $1 AND at > $2 AND session_id IS NOT NULL
                AND device_id IS NOT NULL
            ORDER BY at DESC, id DESC LIMIT \(Self.most)
            """, [.id(user), start])
        let sessions = try transaction.query(
            """
            SELECT s.device_id, s.created_at FROM sessions s
            WHERE s.user_id = $1 AND s.created_at > $2 AND \(GenerationRepository.wasOpened("s"))
            ORDER BY s.created_at DESC, s.id DESC LIMIT \(Self.most)
            """, [.id(user), start])
        var times: [DeviceID: (first: Date, last: Date)] = [:]
        for row in signIns + sessions {
            let (id, at) = try Self.device.read(row)
            let known = times[id] ?? (at, at)
            times[id] = (min(known.first, at), max(known.last, at))
        }
        return times.map { (id: $0.key, firstAt: $0.value.first, lastAt: $0.value.last) }
            .sorted { ($0.lastAt, $0.id.description) > ($1.lastAt, $1.id.description) }
    }

    /// A statement for the ids of the devices that a user signed in on last, with the user as its first parameter.
    internal static func newestDevices(_ limit: Int) -> String {
        """
        SELECT uses.device_id FROM (
            SELECT * FROM (
                SELECT device_id, at FROM sign_ins
                WHERE user_id = $1 AND session_id IS NOT NULL AND device_id IS NOT NULL
                ORDER BY at DESC, id DESC LIMIT \(most)
            ) AS recorded
            UNION ALL
            SELECT * FROM (
                SELECT s.device_id, s.created_at AS at FROM sessions s
                WHERE s.user_id = $1 AND \(GenerationRepository.wasOpened("s"))
                ORDER BY s.created_at DESC, s.id DESC LIMIT \(most)
            ) AS opened
        ) AS uses
        GROUP BY uses.device_id ORDER BY MAX(uses.at) DESC, uses.device_id DESC LIMIT \(limit)
        """
    }

    /// The number of devices that the user signed in on, counted up to one more than `BoundedCount/most`.
    func countDevices() throws -> Int {
        try transaction.value(
            "SELECT COUNT(*) FROM (\(Self.newestDevices(BoundedCount.most + 1))) AS devices", [.id(user)]) ?? 0
    }

    /// When a session of the user was last used, or a sign-in accepted; `nil` if neither is stored.
    func lastUse() throws -> Date? {
        let uses: [Date?] = [
            try transaction.value(
                """
                SELECT MAX(s.last_used_at) FROM (
                    SELECT last_used_at FROM sessions WHERE user_id = $1 ORDER BY created_at DESC, id DESC
                    LIMIT \(Self.most)
                ) AS s
                """, [.id(user)], as: Date?.self) ?? nil,
            try transaction.value(
                """
                SELECT at FROM sign_ins WHERE user_id = $1 AND session_id IS NOT NULL
                ORDER BY at DESC, id DESC LIMIT 1
                """, [.id(user)]),
        ]
        return uses.compactMap(\.self).max()
    }

    private static let count = ColumnTuple(Column<CardStatus>("status"), Column<Int>("COUNT(*)"))

    /// The number of the user's cards by status.
    func cards() throws -> [CardStatus: Int] {
        let rows = try transaction.query(
            "SELECT \(Self.count) FROM identity_cards WHERE user_id = $1 GROUP BY status", [.id(user)])
        return Dictionary(try rows.map(Self.count.read), uniquingKeysWith: +)
    }

    /// The time of the user's last erasure, also if the user has signed in again since; `nil` for a user who was never
    /// erased.
    func erasedAt() throws -> Date? {
        try transaction.value("SELECT erased_at FROM users WHERE id = $1", [.id(user)], as: Date?.self) ?? nil
    }
}
