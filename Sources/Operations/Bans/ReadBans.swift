import Database
import Domain
import Repositories

package extension Administration {
    /// A ban with its entries.
    struct BanSummary: Sendable {
        package let ban: Ban
        /// The named subject comes first. Empty if the ban has ended and its user was erased.
        package let entries: [BanEntry]
    }

    /// The newest bans.
    ///
    /// - Parameters:
    ///   - isActive: whether to return only active bans.
    ///   - cursor: the id of the last ban on the previous page.
    /// - Throws: `Refusal` `not_found` for a cursor that no longer exists.
    func listBans(
        isActive: Bool, limit: Int, after cursor: String? = nil
    ) async throws -> [BanSummary] {
        try await read(.manage) { transaction in
            let records = BanRepository(transaction)
            return try records.summaries(of: records.list(isActive: isActive, limit: limit, after: cursor))
        }
    }

    /// Reads a ban. Its notes may name people, so the access is recorded in the audit log.
    ///
    /// - Returns: the ban with its notes; `nil` if none was written, or the user was erased.
    /// - Throws: `Refusal` `not_found`.
    func readBan(_ id: BanID) async throws -> (summary: BanSummary, note: String?, liftNote: String?) {
        let keys = try personalKeys()
        @Sendable func read(_ transaction: any Transaction) throws -> (Ban?, [BanEntry], String?, String?) {
            let (records, maintenance) = (BanRepository(transaction), BanMaintenance(transaction))
            return (
                try records.find(id), try records.entries(of: id),
                try maintenance.note(.note, of: id, keys: keys), try maintenance.note(.liftNote, of: id, keys: keys)
            )
        }
        let first: @Sendable (any Transaction) throws -> Void = { _ = try read($0) }
        return try await write(.manage, asking: first) { transaction, events in
            let (found, entries, note, liftNote) = try read(transaction)
            guard let found else { throw Refusal.unknownBan(id) }
            if note != nil || liftNote != nil {
                events.record(.personalDataRead(subject: AuditSubject(.ban, id), detail: "notes"), by: actor)
            }
            return (BanSummary(ban: found, entries: entries), note, liftNote)
        }
    }

    /// All bans of one subject, including ended ones, newest first.
    ///
    /// - Throws: `Refusal` `not_found` for an unknown user or device.
    func banHistory(of target: BanTarget) async throws -> [BanSummary] {
        let keys = try personalKeys()
        return try await read(lookingFor: target, revealing: Self.revealed) { transaction, look in
            let records = BanRepository(transaction)
            var seen: Set<BanID> = []
            let bans = try records.entries(on: try target.subjects(keys: keys, in: transaction, by: look)).map(\.ban)
            let found = try records.summaries(of: bans.filter { seen.insert($0.id).inserted })
            // The bans of a device outlive it.
            if case .device(let id) = target, found.isEmpty, try !DeviceRepository(transaction).exists(id) {
                throw Refusal.unknownDevice(id)
            }
            return found
        }
    }

    /// The users whom bans name, or the bans if they name no user.
    private static func revealed(_ bans: [BanSummary]) -> [AuditSubject] {
        let subjects = bans.flatMap(\.entries).map(\.subject)
        let users = Set(subjects.compactMap { if case .user(let user) = $0 { user } else { nil } })
        return users.isEmpty
            ? bans.map { AuditSubject(.ban, $0.ban.id) } : users.map { AuditSubject(.user, $0) }
    }

    /// Bans still active for the subjects of lifted bans, newest first.
    ///
    /// - Parameter lifted: bans that have been lifted or have expired.
    func remainingBans(after lifted: [Ban]) async throws -> [Ban] {
        try await read(.manage) { transaction in
            let entries = try BanRepository(transaction).entries(of: lifted.map(\.id))
            let subjects = Set(entries.values.joined().map(\.subject))
            var seen = Set(lifted.map(\.id))
            let users = subjects.compactMap { if case .user(let user) = $0 { user } else { nil } }
            let found = try transaction.joined { transaction in
                let records = BanRepository(transaction)
                // Bans on the users' proven numbers and documents apply too.
                return try records.holdsInForce(on: users).values.flatMap(\.self) + records.entriesInForce(on: subjects)
            }
            return found.map(\.ban).sorted { $0.createdAt > $1.createdAt }.filter { seen.insert($0.id).inserted }
        }
    }
}

extension BanRepository {
    fileprivate func summaries(of bans: [Ban]) throws -> [Administration.BanSummary] {
        let entries = try entries(of: bans.map(\.id))
        return bans.map { Administration.BanSummary(ban: $0, entries: entries[$0.id] ?? []) }
    }
}
