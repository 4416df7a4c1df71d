import Database
import Domain
import Encoding
import Foundation

/// Users' proven data, each column sealed under its user's key. The number has a blind index.
package struct AuthenticatedUserRepository {
    private let transaction: any Transaction
    private let keys: PersonalKeys

    /// The columns with a user's data. The others are for finding rows.
    private static let columns = ColumnTuple(
        Column<AuthenticatedUser.Suspension?>("suspended"), Column<[UInt8]>(.phoneNumber),
        Column<[UInt8]?>(.fullName), Column<[UInt8]?>(.dateOfBirth), Column<[UInt8]?>(.postalAddress),
        Column<[UInt8]?>(.documentNumber), Column<[UInt8]?>(.jurisdiction), Column<Date>("phone_verified_at"),
        Column<Date?>("identity_verified_at"))
}

package extension AuthenticatedUserRepository {
    init(_ transaction: any Transaction, keys: PersonalKeys) {
        self.transaction = transaction
        self.keys = keys
    }

    /// A user's row; `nil` if nothing was proven, or the user was erased.
    func find(_ user: UserID) throws -> AuthenticatedUser? {
        guard
            let row = try transaction.first(
                "SELECT \(Self.columns) FROM authenticated_users WHERE user_id = $1", [.id(user)]),
            let key = try DataKeyRepository(transaction, keys: keys).find(user)
        else { return nil }
        let (
            suspended, phoneNumber, fullName, dateOfBirth, postalAddress, documentNumber, jurisdiction, phoneVerifiedAt,
            identityVerifiedAt
        ) = try Self.columns.read(row)
        func open(_ sealed: [UInt8]?, _ column: SealedColumn) throws -> String? {
            try sealed.map { try key.open($0, in: column, of: user) }
        }
        return AuthenticatedUser(
            userID: user, suspended: suspended, phoneNumber: try key.open(phoneNumber, in: .phoneNumber, of: user),
            fullName: try open(fullName, .fullName),
            dateOfBirth: try open(dateOfBirth, .dateOfBirth).flatMap { CalendarDate($0) },
            postalAddress: try open(postalAddress, .postalAddress),
            documentNumber: try open(documentNumber, .documentNumber),
            jurisdiction: try open(jurisdiction, .jurisdiction), phoneVerifiedAt: phoneVerifiedAt,
            identityVerifiedAt: identityVerifiedAt)
    }

    /// The blind index of a user's proven number; `nil` if there is none, or it now belongs to another user. It opens
    /// no sealed data.
    func numberIndex(of user: UserID) throws -> Digest256? {
        try transaction.value(
            "SELECT phone_index FROM authenticated_users WHERE user_id = $1 AND suspended IS NULL", [.id(user)])
    }

    /// Whether a number is the user's proven one.
    func isHolder(_ user: UserID, ofNumber indexes: [Digest256]) throws -> Bool {
        try indexes.contains { index in
            try transaction.first(
                """
                SELECT 1 FROM authenticated_users WHERE user_id = $1 AND phone_index = $2 AND suspended IS NULL
                """, [.id(user), index.value]) != nil
        }
    }

    /// The users of all providers whose proven number has one of these blind indexes.
    func holders(ofNumber indexes: [Digest256]) throws -> [UserID] {
        try indexes.flatMap { index in
            try transaction.values(
                "SELECT user_id FROM authenticated_users WHERE phone_index = $1 AND suspended IS NULL", [index.value])
        }
    }

    /// The columns that a proof of a number writes. The others are written with a card.
    private static let provenPhone = ColumnTuple(
        Column<UserID>("user_id"), Column<ProviderID>("provider_id"), Column<Digest256>("phone_index"),
        Column<[UInt8]>(.phoneNumber), Column<Date>("phone_verified_at"))

    /// Stores a number as this user's. Its former holder at the same provider is suspended, and no data of that
    /// identity is transferred. A suspended user must verify a number and submit a card again.
    ///
    /// - Returns: the users who lost the number, and the changes of level.
    func phoneProven(
        _ user: User, _ number: String, at time: Date
    ) throws -> (losers: [UserID], changes: [Assurance.Change]) {
        var (losers, changes) = try suspendOthers(than: user, holding: keys.phoneIndexes(number))
        let wasSuspended = try find(user.id)?.suspended != nil
        let key = try DataKeyRepository(transaction, keys: keys).findOrCreate(user.id)
        if wasSuspended {
            try transaction.execute("DELETE FROM authenticated_users WHERE user_id = $1", [.id(user.id)])
        }
        try transaction.execute(
            """
            INSERT INTO authenticated_users (\(Self.provenPhone)) VALUES (\(Self.provenPhone.placeholders))
            ON CONFLICT (user_id) DO UPDATE SET
                phone_index = excluded.phone_index, phone_number = excluded.phone_number,
                phone_verified_at = excluded.phone_verified_at, archived_at = NULL
            """,
            Self.provenPhone.row(
                user.id, user.providerID, keys.phoneIndex(number),
                try key.seal(number, in: .phoneNumber, of: user.id), time))
        if user.assurance < .phone || wasSuspended {
            let change = try UserRepository(transaction).setAssurance(.phone, until: nil, of: user.id)
            if let change { changes.append(change) }
        }
        return (losers, changes)
    }

    private func suspendOthers(
        than user: User, holding indexes: [Digest256]
    ) throws -> (losers: [UserID], changes: [Assurance.Change]) {
        var losers: [UserID] = []
        for index in indexes {
            losers += try transaction.values(
                """
                UPDATE authenticated_users SET suspended = $4
                WHERE provider_id = $1 AND phone_index = $2 AND user_id <> $3 AND suspended IS NULL
                RETURNING user_id
                """,
                [
                    .id(user.providerID), index.value, .id(user.id),
                    AuthenticatedUser.Suspension.phoneReassigned.value,
                ])
        }
        let users = UserRepository(transaction)
        return (losers, try losers.compactMap { try users.setAssurance(.none, until: nil, of: $0) })
    }

    /// Stores a card's data as this user's. The level expires when the card's last day has ended in every time zone.
    ///
    /// - Returns: the change of level; `nil` if the user has no verified number, without which a card proves nothing.
    func identityVerified(
        _ user: UserID, _ facts: CardFacts, assurance: Assurance, at time: Date
    ) throws -> [Assurance.Change]? {
        let key = try DataKeyRepository(transaction, keys: keys).findOrCreate(user)
        func seal(_ text: String?, _ column: SealedColumn) throws -> Value {
            try text.map { try key.seal($0, in: column, of: user) }.value
        }
        let issuer = [facts.country, facts.jurisdiction].compactMap(\.self).joined(separator: "-")
        let held = try transaction.execute(
            """
            UPDATE authenticated_users SET full_name = $2, date_of_birth = $3, postal_address = $4,
                document_number = $5, jurisdiction = $6, identity_verified_at = $7, archived_at = NULL
            WHERE user_id = $1 AND suspended IS NULL
            """,
            [
                .id(user), try seal(facts.fullName, .fullName), try seal(facts.dateOfBirth.text, .dateOfBirth),
                try seal(facts.address?.line, .postalAddress), try seal(facts.documentNumber, .documentNumber),
                try seal(issuer, .jurisdiction), .time(time),
            ])
        guard held > 0 else { return nil }
        let change = try UserRepository(transaction).setAssurance(
            assurance, until: facts.expiresOn.endEverywhere, of: user)
        return change.map { [$0] } ?? []
    }

    func erase(_ user: UserID) throws {
        try transaction.execute("DELETE FROM authenticated_users WHERE user_id = $1", [.id(user)])
    }
}
