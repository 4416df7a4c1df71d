import Cards
import Database
import Domain
import Encoding
import Foundation
import PhoneNumbers
import Repositories
import Tokens

/// Determines the subjects of a ban and its impact. Changes nothing.
struct BanPlanner: Sendable {
    let keys: PersonalKeys
    let policy: BanPolicy

    /// The changes to write for a ban.
    struct Plan: Sendable {
        var entries: [BanEntry] = []
        var devices: [DeviceID] = []
        /// Users who are banned themselves, by name or as holders.
        var banned: [UserID] = []
        /// Active bans that are lifted because this one replaces them.
        var replaced: [Ban] = []
        var impact = BanImpact(
            replaced: [], users: [], sessions: [], devices: [], authorizations: 0, holdsNumber: false,
            holdsDocument: false)
        /// The named subject in the form for the audit log.
        var subject: AuditSubject
    }

    /// - Throws: `Refusal` `not_found`; `conflict` with state `active` if an active ban on the target is at least as
    ///   strict and must not be replaced.
    func plan(
        _ order: BanOrder, as ban: Ban, in transaction: any Transaction, by look: PersonalLook
    ) throws -> Plan {
        let blind = BanSubjectIndex(keys: keys)
        var plan = Plan(subject: AuditSubject(.ban, ban.id))
        func enter(_ subjects: [BanSubjectIndex.Versioned], _ origin: BanEntry.Origin, until end: Date?) {
            plan.entries += subjects.map {
                BanEntry(ban: ban, subject: $0.subject, origin: origin, endsAt: end, indexVersion: $0.version)
            }
        }
        switch order.target {
        case .user(let name):
            let user = try UserSummary.find(name, in: transaction).user
            plan.subject = AuditSubject(.user, user.id)
            plan.entries.append(
                BanEntry(ban: ban, subject: .user(user.id), origin: .direct, endsAt: ban.endsAt, indexVersion: nil))
            if let end = policy.phoneHoldEnd(ofBanUntil: ban.endsAt, at: ban.createdAt) {
                enter(try blind.number(of: user.id, in: transaction), .derived, until: end)
            }
            for card in try IdentityCardRepository(transaction).list(of: user.id)
            where card.status == .verified && card.assurance.carriesBanToDocument {
                enter(try blind.document(of: card, in: transaction), .derived, until: ban.endsAt)
            }
            if order.withDevices { plan.devices = try SessionRepository(transaction).devices(of: user.id) }
        case .phone(let number): enter(blind.phone(number.e164), .direct, until: ban.endsAt)
        case .document(let name): enter(blind.document(name), .direct, until: ban.endsAt)
        case .indexes(_, let indexes): enter(indexes, .direct, until: ban.endsAt)
        case .device(let id):
            guard try DeviceRepository(transaction).exists(id) else {
                throw Refusal.unknownDevice(id)
            }
            plan.subject = AuditSubject(.device, id)
            plan.devices = [id]
        }
        try addHolders(to: &plan, of: ban, in: transaction)
        for device in plan.devices { try add(device, order, to: &plan, of: ban, in: transaction) }
        plan.replaced = try present(ban, plan, in: transaction)
        if let present = plan.replaced.first, !order.replaces {
            throw Refusal.alreadyBanned(order.target.kind.rawValue, by: present)
        }
        try weigh(&plan, order.scope, in: transaction)
        return plan
    }

    /// Users who have the number or document are affected at once. Later users are refused when they prove it.
    private func addHolders(to plan: inout Plan, of ban: Ban, in transaction: any Transaction) throws {
        var ends: [UserID: Date] = [:]
        for entry in plan.entries {
            let holders: [UserID]
            switch entry.subject {
            case .phone(let index):
                holders = try AuthenticatedUserRepository(transaction, keys: keys).holders(ofNumber: [index])
            case .document(let index): holders = try IdentityCardRepository(transaction).holders(ofDocument: [index])
            case .user(let id): holders = [id]
            case .device, .deviceKey: holders = []
            }
            for holder in holders { ends[holder] = max(ends[holder] ?? .distantPast, entry.endsAt ?? .distantFuture) }
        }
        plan.banned = ends.keys.sorted { $0.description < $1.description }
        plan.entries += plan.banned.map { user in
            let end = ends[user].flatMap { $0 == .distantFuture ? nil : $0 }
            return BanEntry(ban: ban, subject: .user(user), origin: .holder, endsAt: end, indexVersion: nil)
        }
    }

    private func add(
        _ device: DeviceID, _ order: BanOrder, to plan: inout Plan, of ban: Ban, in transaction: any Transaction
    ) throws {
        let origin: BanEntry.Origin = order.withDevices ? .derived : .direct
        var hashes = Set(try CertificateRepository(transaction).list(deviceID: device).map(\.keyHash))
        if let pem = try DeviceRepository(transaction).presenceKey(of: device),
            let hash = (try? VerificationKey(pem: pem)).flatMap({ Digest256($0.thumbprint) })
        {
            hashes.insert(hash)
        }
        let subjects = [BanEntry.Subject.device(device)] + hashes.map { .deviceKey($0) }
        plan.entries += subjects.map {
            BanEntry(ban: ban, subject: $0, origin: origin, endsAt: ban.endsAt, indexVersion: nil)
        }
    }

    /// The active bans on the same subject that are at least as strict, whatever their durations, newest first.
    private func present(_ ban: Ban, _ plan: Plan, in transaction: any Transaction) throws -> [Ban] {
        let named = plan.entries.filter { $0.origin == .direct }.map(\.subject)
        var seen: Set<BanID> = []
        return try BanRepository(transaction).entries(on: named)
            .filter { $0.origin == .direct && $0.ban.isActive(at: transaction.now) && $0.ban.scope.includes(ban.scope) }
            .map(\.ban).filter { seen.insert($0.id).inserted }
    }

    private func weigh(_ plan: inout Plan, _ scope: Ban.Scope, in transaction: any Transaction) throws {
        var sessions: [Session] = []
        if scope == .all {
            let records = SessionRepository(transaction)
            let scopes =
                plan.banned.map(SessionScope.user) + plan.devices.map(SessionScope.device)
            var seen: Set<SessionID> = []
            sessions = try scopes.flatMap(records.listOpen).filter { seen.insert($0.id).inserted }
        }
        let users = try UserSummary.list(Set(plan.banned + sessions.map(\.userID)), in: transaction)
        plan.impact = BanImpact(
            replaced: plan.replaced, users: users, sessions: sessions,
            devices: plan.devices,
            authorizations: try plan.banned.map(AuthorizationRepository(transaction).countOpen).reduce(0, +),
            holdsNumber: plan.entries.contains { if case .phone = $0.subject { true } else { false } },
            holdsDocument: plan.entries.contains { if case .document = $0.subject { true } else { false } })
    }
}
