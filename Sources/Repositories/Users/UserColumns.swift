import Database
import Domain
import Encoding
import Foundation

/// The columns of `users` without the sealed profile, which is read separately.
struct UserColumns: ColumnSet {
    let id: Column<UserID>
    let providerID: Column<ProviderID>
    let externalID: Column<String>
    let assurance: Column<Assurance>
    let assuranceUntil: Column<Date?>
    let createdAt: Column<Date>
    let profileIndex: Column<Digest256?>
    /// Whether a sign-in has to look for bans.
    let held: Column<Bool>

    init(_ list: inout ColumnList) {
        id = list.add("id")
        providerID = list.add("provider_id")
        externalID = list.add("external_id")
        assurance = list.add("assurance")
        assuranceUntil = list.add("assurance_until")
        createdAt = list.add("created_at")
        profileIndex = list.add("profile_index")
        held = list.addWritten("held")
    }

    /// The user, with the level at a given time.
    func user(_ row: Row, now: Date) throws -> User {
        User(
            id: try row[id], providerID: try row[providerID], externalID: try row[externalID],
            assurance: try level(row).value(at: now), createdAt: try row[createdAt],
            profileIndex: try row[profileIndex])
    }

    func level(_ row: Row) throws -> AssuranceLevel {
        AssuranceLevel(try row[assurance], until: try row[assuranceUntil])
    }

    func write(_ user: User, to row: inout NewRow) {
        row.set(id, user.id)
        row.set(providerID, user.providerID)
        row.set(externalID, user.externalID)
        row.set(assurance, user.assurance)
        row.set(createdAt, user.createdAt)
        row.set(held, false)
    }
}
