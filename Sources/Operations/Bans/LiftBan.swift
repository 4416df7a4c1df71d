import Database
import Domain
import Foundation
import PhoneNumbers
import Repositories

/// Lifts bans before their end. It revives nothing: sessions that were ended stay ended.
package struct LiftBan: Sendable {
    private let store: any Database
    private let keys: PersonalKeys
    private let environment: Environment
    private let actor: String

    /// Lifts in a store, in somebody's name.
    package init(store: any Database, keys: PersonalKeys, environment: Environment, actor: String) {
        self.store = store
        self.keys = keys
        self.environment = environment
        self.actor = actor
    }

    /// Lifts one ban.
    ///
    /// - Parameter note: why; kept sealed.
    /// - Throws: `Refusal` `not_found`, `conflict` where it is over already, or `malformed_request` for the note.
    package func callAsFunction(_ id: BanID, note: String) async throws -> Ban {
        try Ban.requirePlain(note: note)
        let auditID = environment.newUUID()
        return try await store.transaction { transaction in
            guard let ban = try BanRepository(transaction).find(id) else {
                throw Refusal(.notFound, "There is no ban \(id).")
            }
            return try lift(ban, note: note, auditID: auditID, in: transaction)
        }
    }

    /// Lifts every ban in force that names a subject.
    ///
    /// - Throws: `Refusal` `not_found` where there is none, with the ban that holds the subject nevertheless.
    package func callAsFunction(_ target: BanTarget, note: String) async throws -> [Ban] {
        try Ban.requirePlain(note: note)
        return try await store.transaction { transaction in
            let subjects = try target.subjects(keys: keys, in: transaction)
            let holds = try BanRepository(transaction).holds(on: subjects).filter { $0.isActive(at: transaction.now) }
            var lifted: [Ban] = []
            for hold in holds where hold.part == .named && !lifted.contains(where: { $0.id == hold.ban.id }) {
                lifted.append(
                    try lift(hold.ban, note: note, auditID: environment.newUUID(), in: transaction))
            }
            guard !lifted.isEmpty else {
                let other = holds.first.map { " It is held by ban \($0.ban.id), which names another subject." }
                throw Refusal(.notFound, "There is no ban in force on this \(target.kind.rawValue).\(other ?? "")")
            }
            return lifted
        }
    }

    private func lift(_ ban: Ban, note: String, auditID: UUID, in transaction: any Transaction) throws -> Ban {
        let records = BanRepository(transaction)
        // Read first: what is held of erased people is forgotten with the lifting.
        let holds = try records.holds(of: ban.id)
        guard try records.lift(ban.id, by: actor) else {
            let state = ban.state(at: transaction.now).rawValue
            throw Refusal(.conflict, "The ban is \(state) already.", state: state)
        }
        try BanMaintenance(transaction).setNote(note, .liftNote, of: ban.id, keys: keys)
        for case .device(let device) in holds.map(\.subject) {
            try ChangeLog(transaction).announce(.device(device))
        }
        if ban.scope == .all {
            for case .user(let user) in holds.map(\.subject) {
                guard try RefuseBanned.ruling(on: user, in: transaction) == nil,
                    let provider = try UserRepository(transaction).find(user)?.providerID
                else { continue }
                try ProviderWebhookRepository(transaction).tell(.accountEnabled, of: user, to: provider)
            }
        }
        try AuditRepository(transaction).append(.banLifted, subject: "ban \(ban.id)", actor: actor, id: auditID)
        var lifted = ban
        lifted.lifted = .init(at: transaction.now, actor: actor)
        return lifted
    }
}

extension BanTarget {
    /// What stands for it in the store.
    func subjects(keys: PersonalKeys, in transaction: any Transaction) throws -> [BanEntry.Subject] {
        let blind = BanSubjectIndex(keys: keys)
        switch self {
        case .user(let name): return [.user(try AdministerUsers.line(name, in: transaction).user.id)]
        case .phone(let number): return blind.phone(number.e164).map(\.subject)
        case .document(let name): return blind.document(name).map(\.subject)
        case .device(let id): return [.device(id)]
        }
    }
}
