import Database
import Domain
import Foundation
import Repositories

/// What admins see of bans.
package struct AdministerBans: Sendable {
    private let store: any Database
    private let keys: PersonalKeys
    private let environment: Environment
    private let actor: String

    /// Looks into a store, in an admin's name.
    package init(store: any Database, keys: PersonalKeys, environment: Environment, actor: String) {
        self.store = store
        self.keys = keys
        self.environment = environment
        self.actor = actor
    }

    /// A ban with what it holds.
    package struct Line: Sendable {
        package let ban: Ban
        /// What the admin named first; empty where the ban is over and its person erased.
        package let holds: [BanEntry]
    }

    /// A ban with its notes.
    package struct Opened: Sendable {
        package let line: Line
        /// What was found; `nil` where nothing was written, or the person was erased.
        package let note: String?
        package let liftNote: String?
    }

    /// The newest bans.
    ///
    /// - Parameter isActive: only those in force.
    package func list(isActive: Bool, limit: Int) async throws -> [Line] {
        try await store.snapshot { transaction in
            let records = BanRepository(transaction)
            return try records.list(isActive: isActive, limit: limit).map {
                Line(ban: $0, holds: try records.holds(of: $0.id))
            }
        }
    }

    /// A ban. Its notes may speak of people: the look is written into the audit log.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func show(_ id: BanID) async throws -> Opened {
        let auditID = environment.newUUID()
        return try await store.transaction { transaction in
            let records = BanRepository(transaction)
            guard let ban = try records.find(id) else { throw Refusal(.notFound, "There is no ban \(id).") }
            let upkeep = BanMaintenance(transaction)
            let note = try upkeep.note(.note, of: id, keys: keys)
            let liftNote = try upkeep.note(.liftNote, of: id, keys: keys)
            if note != nil || liftNote != nil {
                try AuditRepository(transaction).append(
                    .personalDataRead, subject: "ban \(id)", actor: actor, detail: "notes", id: auditID)
            }
            return Opened(
                line: Line(ban: ban, holds: try records.holds(of: id)), note: note, liftNote: liftNote)
        }
    }

    /// Every ban that holds or held a subject, newest first.
    package func history(_ target: BanTarget) async throws -> [Line] {
        try await store.snapshot { transaction in
            let records = BanRepository(transaction)
            var seen: Set<BanID> = []
            return try records.holds(on: try target.subjects(keys: keys, in: transaction)).map(\.ban)
                .filter { seen.insert($0.id).inserted }
                .map { Line(ban: $0, holds: try records.holds(of: $0.id)) }
        }
    }
}
