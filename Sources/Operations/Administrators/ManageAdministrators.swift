import Database
import Domain
import Encoding
import Foundation
import Repositories

package extension Administration {
    /// All administrators by name, removed ones too, each with the time when the last valid certificate expires.
    func listAdministrators() async throws -> [(administrator: Administrator, certificateEnd: Date?)] {
        try await read(.audit) { transaction in
            let records = AdministratorRepository(transaction)
            let ends = try records.certificateEnds(at: transaction.now)
            return try records.list().map { ($0, ends[$0.id]) }
        }
    }

    /// Adds an administrator. The name of a removed administrator may be used again by the same person: the role and
    /// the account are then replaced, and earlier certificates stay revoked.
    ///
    /// - Parameters:
    ///   - account: the operating system account whose commands get the role.
    ///   - certificate: the first certificate, if there is one.
    /// - Throws: `Refusal` `malformed_request` for a name, `conflict` if name or account is taken, in whatever case.
    @discardableResult
    func addAdministrator(
        _ name: String, role: AdminRole, account: String? = nil, certificate: AdministratorCertificate? = nil
    ) async throws -> Administrator {
        guard Administrator.isName(name), account.map(Administrator.isName) ?? true else {
            throw Refusal.unreadableAdministratorName
        }
        let id: AdministratorID = environment.newIdentifier()
        return try await write(.manage) { transaction, events in
            let records = AdministratorRepository(transaction)
            let former = try records.find(name: name)
            if let former, former.removedAt == nil { throw Refusal.administratorExists(name) }
            if former == nil { try records.requireDistinct(name) }
            if let account, let owner = try records.find(account: account), owner.id != former?.id {
                throw Refusal.accountOfAnother(account, owner.name)
            }
            if let former { try requireMayReturn(former, role, account, at: transaction.now) }
            // An account that lost its role does not get its own rights back.
            let administrator = Administrator(
                id: former?.id ?? id, name: name, role: role, account: account ?? former?.account,
                createdAt: transaction.now, removedAt: nil)
            try records.save(administrator)
            if let certificate { try records.insert(certificate, of: administrator.id) }
            events.record(.administratorAdded(administrator), by: actor)
            return administrator
        }
    }

    /// Refuses what an administrator could use to get around a second one: an account without an administrator has all
    /// rights, and fewer administrators with the role mean that acts do not wait.
    private func requireMayReturn(
        _ former: Administrator, _ role: AdminRole, _ account: String?, at now: Date
    ) throws(Refusal) {
        guard administrator != nil else { return }
        if let own = former.account, let account, !own.hasSameBytes(as: account) {
            throw Refusal.accountStaysMapped(former.name, own)
        }
        if fourEyesOver > 0, former.isSecond(at: now), !role.includes(.manage) {
            throw Refusal.recentlyRemoved(former.name)
        }
    }

    /// Removes an administrator. The certificates are revoked, and the account's commands are refused.
    ///
    /// - Returns: how many certificates were valid until now.
    /// - Throws: `Refusal` `not_found`, or `conflict` if the administrator is already removed.
    @discardableResult
    func removeAdministrator(_ name: String, reason: AuditReason? = nil) async throws -> Int {
        try await write(.manage) { transaction, events in
            let records = AdministratorRepository(transaction)
            let present = try records.requirePresent(name)
            let removed = Administrator(
                id: present.id, name: present.name, role: present.role, account: present.account,
                createdAt: present.createdAt, removedAt: transaction.now)
            try records.save(removed)
            let revoked = try records.revokeCertificates(of: present.id, at: transaction.now)
            events.record(.administratorRemoved(removed), by: actor, because: reason)
            return revoked
        }
    }

    /// Gives an administrator a new certificate in place of the former ones, which are revoked.
    ///
    /// - Returns: how many certificates were valid until now.
    /// - Throws: `Refusal` `not_found`, or `conflict` if the administrator is removed.
    @discardableResult
    func renewAdministrator(_ name: String, certificate: AdministratorCertificate) async throws -> Int {
        try await write(.manage) { transaction, events in
            let records = AdministratorRepository(transaction)
            let administrator = try records.requirePresent(name)
            let revoked = try records.revokeCertificates(of: administrator.id, at: transaction.now)
            try records.insert(certificate, of: administrator.id)
            events.record(.administratorRenewed(administrator), by: actor)
            return revoked
        }
    }

    /// Returns if an administrator is present and may be changed by this one, before a key is made.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` if the administrator is removed.
    func requireAdministrator(_ name: String) async throws {
        _ = try await read(.manage) { try AdministratorRepository($0).requirePresent(name) }
    }

    /// Whether any administrator has a valid certificate.
    func hasAdministratorCertificates() async throws -> Bool {
        try await read(.manage) { try !AdministratorRepository($0).certificateEnds(at: $0.now).isEmpty }
    }

    /// Returns if this administrator's role permits what a command does without an operation.
    ///
    /// - Throws: `Refusal` `insufficient_scope`.
    func require(_ right: AdminRight) async throws {
        try await read(right) { _ in }
    }
}

extension AdministratorRepository {
    /// Refuses a name that differs only in case from that of an administrator, also of a removed one: in the audit log
    /// people would take one for the other. Names are ASCII, and administrators are few.
    fileprivate func requireDistinct(_ name: String) throws {
        let folded = name.lowercased()
        if let other = try list().first(where: { $0.name.lowercased().hasSameBytes(as: folded) }) {
            throw Refusal.administratorDiffersInCase(other.name)
        }
    }

    fileprivate func requirePresent(_ name: String) throws -> Administrator {
        guard let found = try find(name: name) else { throw Refusal.unknownAdministrator(name) }
        guard found.removedAt == nil else { throw Refusal.administratorAlreadyRemoved(name) }
        return found
    }
}
