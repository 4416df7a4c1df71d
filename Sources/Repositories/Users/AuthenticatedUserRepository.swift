import Database
import Domain
import Encoding
import Foundation

/// What users have proved, each column sealed under its user's key; the number is found again by its blind index.
package struct AuthenticatedUserRepository {
    private let transaction: any Transaction
    private let keys: PersonalKeys

    /// The table, as it is bound into what is sealed in it.
    package static let table = "authenticated_users"

    package init(_ transaction: any Transaction, keys: PersonalKeys) {
        self.transaction = transaction
        self.keys = keys
    }

    /// A user's row; `nil` where nothing was proved, or the user was erased.
    package func find(_ user: UserID) throws -> AuthenticatedUser? {
        guard
            let row = try transaction.first(
                """
                SELECT suspended, phone_number, push_endpoint, full_name, date_of_birth, postal_address,
                    document_number, jurisdiction, phone_verified_at, identity_verified_at
                FROM authenticated_users WHERE user_id = $1
                """, [.id(user)]), let key = try DataKeyRepository(transaction, keys: keys).find(user)
        else { return nil }
        func open(_ index: Int, _ column: String) throws -> String? {
            try row.bytesOrNull(index).map {
                try key.open($0, table: Self.table, column: column, row: user.description)
            }
        }
        guard let phoneNumber = try open(1, "phone_number") else { throw DamagedRow(column: 1) }
        return AuthenticatedUser(
            userID: user, suspended: try row.textOrNull(0).flatMap(AuthenticatedUser.Suspension.init),
            phoneNumber: phoneNumber, pushEndpoint: try open(2, "push_endpoint"), fullName: try open(3, "full_name"),
            dateOfBirth: try open(4, "date_of_birth").flatMap { CalendarDate($0) },
            postalAddress: try open(5, "postal_address"), documentNumber: try open(6, "document_number"),
            jurisdiction: try open(7, "jurisdiction"), phoneVerifiedAt: try row.time(8),
            identityVerifiedAt: try row.timeOrNull(9))
    }

    /// The blind index of a user's proven number; `nil` where there is none, or it is another user's now. Said without
    /// opening anything.
    package func numberIndex(of user: UserID) throws -> Digest256? {
        try transaction.first(
            "SELECT phone_index FROM authenticated_users WHERE user_id = $1 AND suspended IS NULL", [.id(user)]
        )?.digest(0)
    }

    /// Whether a number is the user's proven one.
    package func isHolder(_ user: UserID, ofNumber indexes: [Digest256]) throws -> Bool {
        try indexes.contains { index in
            try transaction.first(
                """
                SELECT 1 FROM authenticated_users WHERE user_id = $1 AND phone_index = $2 AND suspended IS NULL
                """, [.id(user), .bytes(index.bytes)]) != nil
        }
    }

    /// The users of all providers whose proven number has one of these blind indexes.
    package func holders(ofNumber indexes: [Digest256]) throws -> [UserID] {
        try indexes.flatMap { index in
            try transaction.query(
                "SELECT user_id FROM authenticated_users WHERE phone_index = $1 AND suspended IS NULL",
                [.bytes(index.bytes)]
            ).map { try $0.id(0) }
        }
    }

    /// The number is this user's from now on. Whoever held it at the same provider is suspended, and nothing of that
    /// identity passes over. A user who was suspended begins anew: the old identity must be shown again.
    ///
    /// - Returns: the users who lost it.
    package func phoneProven(
        _ user: User, _ number: String, pushEndpoint: String?, at time: Date
    ) throws -> [UserID] {
        let losers = try suspendOthers(than: user, holding: keys.blindIndexes(number, .phoneNumber))
        let wasSuspended = try find(user.id)?.suspended != nil
        let key = try DataKeyRepository(transaction, keys: keys).findOrCreate(user.id, at: time)
        func seal(_ text: String, _ column: String) throws -> [UInt8] {
            try key.seal(text, table: Self.table, column: column, row: user.id.description)
        }
        if wasSuspended {
            try transaction.execute("DELETE FROM authenticated_users WHERE user_id = $1", [.id(user.id)])
        }
        try transaction.execute(
            """
            INSERT INTO authenticated_users
                (user_id, provider_id, phone_index, phone_number, push_endpoint, phone_verified_at)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (user_id) DO UPDATE SET
                phone_index = excluded.phone_index, phone_number = excluded.phone_number,
                push_endpoint = COALESCE(excluded.push_endpoint, authenticated_users.push_endpoint),
                phone_verified_at = excluded.phone_verified_at, archived_at = NULL
            """,
            [
                .id(user.id), .id(user.providerID), .bytes(keys.blindIndex(number, .phoneNumber).bytes),
                .bytes(try seal(number, "phone_number")), Value(try pushEndpoint.map { try seal($0, "push_endpoint") }),
                .time(time),
            ])
        if user.assurance < .phone || wasSuspended {
            try UserRepository(transaction).setAssurance(.phone, until: nil, of: user.id)
        }
        return losers
    }

    private func suspendOthers(than user: User, holding indexes: [Digest256]) throws -> [UserID] {
        var losers: [UserID] = []
        for index in indexes {
            losers += try transaction.query(
                """
                UPDATE authenticated_users SET suspended = $4
                WHERE provider_id = $1 AND phone_index = $2 AND user_id <> $3 AND suspended IS NULL
                RETURNING user_id
                """,
                [
                    .id(user.providerID), .bytes(index.bytes), .id(user.id),
                    .text(AuthenticatedUser.Suspension.phoneReassigned.rawValue),
                ]
            ).map { try $0.id(0) }
        }
        for loser in losers { try UserRepository(transaction).setAssurance(.none, until: nil, of: loser) }
        return losers
    }

    /// The card is this user's. The level lapses when the card's last day is over wherever its holder may be.
    ///
    /// - Returns: whether the user holds a proven number, behind which alone a card counts.
    package func identityVerified(
        _ user: UserID, _ facts: CardFacts, assurance: Assurance, at time: Date
    ) throws -> Bool {
        let key = try DataKeyRepository(transaction, keys: keys).findOrCreate(user, at: time)
        func seal(_ text: String, _ column: String) throws -> Value {
            .bytes(try key.seal(text, table: Self.table, column: column, row: user.description))
        }
        let issuer = [facts.country, facts.jurisdiction].compactMap(\.self).joined(separator: "-")
        let held = try transaction.execute(
            """
            UPDATE authenticated_users SET full_name = $2, date_of_birth = $3, postal_address = $4,
                document_number = $5, jurisdiction = $6, identity_verified_at = $7, archived_at = NULL
            WHERE user_id = $1 AND suspended IS NULL
            """,
            [
                .id(user), try seal(facts.fullName, "full_name"),
                try seal(facts.dateOfBirth.text, "date_of_birth"),
                try facts.address.map { try seal($0.line, "postal_address") } ?? .null,
                try facts.documentNumber.map { try seal($0, "document_number") } ?? .null,
                try seal(issuer, "jurisdiction"), .time(time),
            ])
        guard held > 0 else { return false }
        try UserRepository(transaction).setAssurance(assurance, until: facts.expiresOn.endEverywhere, of: user)
        return true
    }

    /// Where pushes go from now on; `nil` nowhere. `false` where the user has proved no number.
    package func setPushEndpoint(_ endpoint: String?, of user: UserID) throws -> Bool {
        guard let key = try DataKeyRepository(transaction, keys: keys).find(user) else { return false }
        let sealed = try endpoint.map {
            try key.seal($0, table: Self.table, column: "push_endpoint", row: user.description)
        }
        return try transaction.execute(
            "UPDATE authenticated_users SET push_endpoint = $2 WHERE user_id = $1", [.id(user), Value(sealed)]) > 0
    }

    /// Whether pushes go anywhere; said without opening the address.
    package func hasPushEndpoint(_ user: UserID) throws -> Bool {
        try transaction.first(
            "SELECT 1 FROM authenticated_users WHERE user_id = $1 AND push_endpoint IS NOT NULL", [.id(user)]) != nil
    }

    /// Pushes go nowhere from now on, if they still went to an endpoint that is gone; `false` where the user has
    /// registered another one since.
    package func dropPushEndpoint(_ endpoint: String, of user: UserID) throws -> Bool {
        guard try find(user)?.pushEndpoint == endpoint else { return false }
        return try setPushEndpoint(nil, of: user)
    }

    package func erase(_ user: UserID) throws {
        try transaction.execute("DELETE FROM authenticated_users WHERE user_id = $1", [.id(user)])
    }
}
