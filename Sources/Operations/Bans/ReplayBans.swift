import Database
import Domain
import Foundation
import Repositories

/// Writes bans and lifts of the replaced store into a copy that does not have them, so a restore lifts no ban.
struct ReplayBans: Sendable {
    private let copies: [BanCopy]
    private let keys: PersonalKeys

    /// One ban in the replaced store.
    private struct BanCopy: Sendable {
        let ban: Ban
        let entries: [(entry: BanEntry, goesWithBan: Bool)]
        let notes: [BanMaintenance.Note: String]
        /// The users of its entries, because the restored store may not have them yet.
        let users: [User]
    }

    /// Reads all bans of the replaced store.
    ///
    /// - Throws: `SealingFailure` for a note that cannot be decrypted.
    init(of transaction: any Transaction, keys: PersonalKeys) throws {
        self.keys = keys
        let (records, upkeep, users) = (
            BanRepository(transaction), BanMaintenance(transaction), UserRepository(transaction)
        )
        copies = try records.list(isActive: false, limit: .max).map { ban in
            var notes: [BanMaintenance.Note: String] = [:]
            for note in BanMaintenance.Note.allCases { notes[note] = try upkeep.note(note, of: ban.id, keys: keys) }
            let entries = try records.entries(of: ban.id).map { (entry: $0, goesWithBan: try upkeep.goesWithBan($0)) }
            let named = try entries.compactMap { listed -> User? in
                guard case .user(let id) = listed.entry.subject else { return nil }
                return try users.find(id)
            }
            return BanCopy(ban: ban, entries: entries, notes: notes, users: named)
        }
    }

    /// Inserts bans that were added since the copy, and lifts those that were lifted since.
    ///
    /// - Returns: how many bans were added or lifted.
    func callAsFunction(
        in transaction: any Transaction, actor: String, environment: Environment
    ) throws -> Int {
        let records = BanRepository(transaction)
        var count = 0
        for copy in copies {
            let ban = copy.ban
            if let present = try records.find(ban.id) {
                guard present.lifted == nil, let lifted = ban.lifted, try records.lift(ban.id, by: lifted.actor) else {
                    continue
                }
            } else {
                try make(copy, in: transaction)
            }
            for (note, text) in copy.notes {
                try BanMaintenance(transaction).setNote(text, note, of: ban.id, keys: keys)
            }
            try AuditRepository(transaction).append(
                ban.lifted == nil ? .banAdded : .banLifted, subject: AuditSubject(.ban, ban.id), actor: actor,
                detail: "again after a restore", reason: AuditReason(ban.reason.rawValue), id: environment.newUUID())
            count += 1
        }
        try BanMaintenance(transaction).purge()
        return count
    }

    private func make(_ copy: BanCopy, in transaction: any Transaction) throws {
        let records = BanRepository(transaction)
        try records.insert(copy.ban)
        for user in copy.users { try recognize(user, of: copy, in: transaction) }
        for (entry, goesWithBan) in copy.entries { try records.insert(entry, goesWithBan: goesWithBan) }
        // Permissions that the ban ended stay ended, even if it was lifted since, because lifting restores nothing.
        let authorizations = AuthorizationRepository(transaction)
        for user in try Set(copy.entries.flatMap { try holders(of: $0.entry, in: transaction) }) {
            try authorizations.withdraw(allOf: user, because: .banned, at: transaction.now)
            // In the copy, another user may have the number or document, and that user was not checked yet.
            try GenerationRepository(transaction).setMayBeBanned(true, .user(user))
        }
    }

    /// Adds a user who signed in for the first time since the copy, with the same id. So the ban applies to the user
    /// with the provider's name. If the copy has that name with another id, the ban includes that user too.
    private func recognize(_ user: User, of copy: BanCopy, in transaction: any Transaction) throws {
        guard try ProviderRepository(transaction).find(user.providerID) != nil else { return }
        let known = try UserRepository(transaction).findOrCreate(
            providerID: user.providerID, externalID: user.externalID, newID: user.id, at: user.createdAt)
        guard known.id != user.id, let named = copy.entries.first(where: { $0.entry.subject == .user(user.id) }) else {
            return
        }
        let entry = BanEntry(
            ban: copy.ban, subject: .user(known.id), origin: named.entry.origin, endsAt: named.entry.endsAt,
            indexVersion: nil)
        try BanRepository(transaction).insert(entry, goesWithBan: named.goesWithBan)
    }

    private func holders(of entry: BanEntry, in transaction: any Transaction) throws -> [UserID] {
        switch entry.subject {
        case .user(let id): [id]
        case .phone(let index):
            try AuthenticatedUserRepository(transaction, keys: keys).holders(ofNumber: [index])
        case .document(let index): try IdentityCardRepository(transaction).holders(ofDocument: [index])
        case .device, .deviceKey: []
        }
    }
}
