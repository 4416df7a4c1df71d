import Database
import Domain
import Foundation
import PhoneNumbers
import Repositories

package extension Administration {
    /// Lifts a ban before it expires. Sessions that it ended stay ended.
    ///
    /// - Parameter note: the reason, which is stored sealed.
    /// - Throws: `Refusal` `not_found`, `conflict` if it has already ended, or `malformed_request` for the note.
    func liftBan(_ id: BanID, note: String) async throws -> Ban {
        try Ban.requirePlain(note: note)
        let keys = try personalKeys()
        return try await write(.manage) { transaction, events in
            try lift(try BanRepository(transaction).require(id), note: note, keys, in: transaction, &events)
        }
    }

    /// The ban that would be lifted. Nothing is changed.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` if it has already ended.
    func previewLift(of id: BanID) async throws -> Ban {
        try await read(.manage) { transaction in
            let ban = try BanRepository(transaction).require(id)
            guard ban.isActive(at: transaction.now) else { throw Self.over(ban, at: transaction.now) }
            return ban
        }
    }

    /// The active bans that name a subject and would be lifted. Nothing is changed.
    ///
    /// - Throws: `Refusal` `not_found` if there is none, with the id of an active ban that covers the subject in
    ///   another way.
    func previewLift(on target: BanTarget) async throws -> [Ban] {
        let keys = try personalKeys()
        return try await read(
            lookingFor: target, revealing: { $0.map { AuditSubject(.ban, $0.id) } },
            { try find(target, keys, in: $0, by: $1) })
    }

    /// Lifts every active ban that names a subject.
    ///
    /// - Throws: `Refusal` `not_found` if there is none, with the id of an active ban that covers the subject in
    ///   another way.
    func liftBans(on target: BanTarget, note: String) async throws -> [Ban] {
        try Ban.requirePlain(note: note)
        let keys = try personalKeys()
        let lifted: Result<[Ban], Refusal> = try await write(.manage) { transaction, events in
            let found = try look(for: target, because: nil, &events, revealing: { _ in nil }) {
                try find(target, keys, in: transaction, by: $0)
            }
            switch found {
            case .failure(let refusal): return .failure(refusal)
            case .success(let bans):
                return .success(try bans.map { try lift($0, note: note, keys, in: transaction, &events) })
            }
        }
        return try lifted.get()
    }

    /// The active bans that name a subject, at least one.
    private func find(
        _ target: BanTarget, _ keys: PersonalKeys, in transaction: any Transaction, by look: PersonalLook
    ) throws -> [Ban] {
        let subjects = try target.subjects(keys: keys, in: transaction, by: look)
        let entries = try BanRepository(transaction).entries(on: subjects).filter {
            $0.isActive(at: transaction.now)
        }
        var found: [Ban] = []
        for entry in entries where entry.origin == .direct && !found.contains(where: { $0.id == entry.ban.id }) {
            found.append(entry.ban)
        }
        guard !found.isEmpty else {
            throw Refusal.notBanned(target.kind.rawValue, heldBy: entries.first?.ban.id)
        }
        return found
    }

    private static func over(_ ban: Ban, at now: Date) -> Refusal {
        let state = ban.state(at: now).rawValue
        return Refusal.banIsOver(state: state)
    }
}

extension Administration {
    /// Lifts a ban in the transaction of another change.
    ///
    /// - Throws: `Refusal` `conflict` if it has already ended.
    @discardableResult
    func lift(
        _ ban: Ban, note: String, _ keys: PersonalKeys, in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws -> Ban {
        let records = BanRepository(transaction)
        // Read before the ban is lifted, which deletes the entries of erased users.
        let entries = try records.entries(of: ban.id)
        guard try records.lift(ban.id, by: actor) else {
            throw Self.over(ban, at: transaction.now)
        }
        try BanMaintenance(transaction).setNote(note, .liftNote, of: ban.id, keys: keys)
        for case .device(let device) in entries.map(\.subject) {
            events.record(.deviceUnbanned(device))
        }
        for entry in entries { try release(entry, of: ban, in: transaction) }
        if ban.scope == .all {
            for case .user(let user) in entries.map(\.subject) {
                guard try RefuseBanned.activeBan(on: user, in: transaction) == nil,
                    let provider = try UserRepository(transaction).find(user)?.providerID
                else { continue }
                events.record(.userUnbanned(user, of: provider))
            }
        }
        events.record(.banLifted(ban.id), by: actor)
        var lifted = ban
        lifted.lifted = .init(at: transaction.now, actor: actor)
        return lifted
    }

    /// Raises the generation of a lifted ban's subject, which is no longer checked unless another ban on it is active.
    /// This happens in the lifting transaction, so a concurrent ban is not missed.
    private func release(_ entry: BanEntry, of ban: Ban, in transaction: any Transaction) throws {
        guard let scope = entry.subject.scope else { return }
        let gates = GenerationRepository(transaction)
        // An entry may expire before its ban, and sessions may have been opened since.
        if ban.scope == .all, entry.isActive(at: transaction.now) { try gates.raise(scope) }
        let records = BanRepository(transaction)
        let others =
            switch scope {
            case .user(let id): try records.holdsInForce(on: id, margin: RefuseBanned.margin)
            default:
                try records.entries(on: [entry.subject]).filter {
                    $0.isActive(at: transaction.now.addingTimeInterval(-RefuseBanned.margin))
                }
            }
        if others.isEmpty { try gates.setMayBeBanned(false, scope) }
    }
}

extension BanTarget {
    /// The stored subjects that the target means.
    func subjects(
        keys: PersonalKeys, in transaction: any Transaction, by look: PersonalLook
    ) throws -> [BanEntry.Subject] {
        let blind = BanSubjectIndex(keys: keys)
        switch self {
        case .user(let name): return [.user(try UserSummary.find(name, in: transaction).user.id)]
        case .phone(let number): return blind.phone(number.e164).map(\.subject)
        case .document(let name): return blind.document(name).map(\.subject)
        case .device(let id): return [.device(id)]
        case .indexes(_, let indexes): return indexes.map(\.subject)
        }
    }
}

extension BanRepository {
    func require(_ id: BanID) throws -> Ban {
        guard let ban = try find(id) else { throw Refusal.unknownBan(id) }
        return ban
    }
}
