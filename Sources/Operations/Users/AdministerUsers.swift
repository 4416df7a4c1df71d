import Database
import Domain
import Foundation
import Repositories

/// What admins may see and do of users. Every look at personal data is written into the audit log, with who and why.
package struct AdministerUsers: Sendable {
    private let store: any Database
    private let keys: PersonalKeys
    private let environment: Environment
    private let actor: String

    /// Administers a store, in somebody's name.
    package init(store: any Database, keys: PersonalKeys, environment: Environment, actor: String) {
        self.store = store
        self.keys = keys
        self.environment = environment
        self.actor = actor
    }

    /// A user without personal data.
    package struct Line: Sendable {
        package let user: User
        /// `<provider slug>/<external id>`.
        package let address: String
    }

    /// The newest users.
    package func list(limit: Int) async throws -> [Line] {
        try await store.snapshot { transaction in
            try UserRepository(transaction).list(limit: limit).map {
                Line(user: $0, address: try Self.address(of: $0, in: transaction))
            }
        }
    }

    /// Finds a user by id, or by `<provider slug>/<external id>`.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func find(_ name: String) async throws -> Line {
        try await store.snapshot { try Self.line(name, in: $0) }
    }

    /// Everything that is held on a user.
    ///
    /// - Parameter reason: why the admin looks; kept in the audit log.
    /// - Throws: `Refusal` `not_found`.
    package func export(_ name: String, reason: AuditReason) async throws -> PersonalExport {
        let auditID = environment.newUUID()
        return try await store.transaction { transaction in
            let line = try Self.line(name, in: transaction)
            try AuditRepository(transaction).append(
                .personalDataRead, subject: "user \(line.user.id)", actor: actor, reason: reason, id: auditID)
            return try PersonalExport.collect(line.user, address: line.address, keys: keys, in: transaction)
        }
    }

    /// Erases a user; the id of the audit entry.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func erase(_ name: String, reason: AuditReason) async throws -> UUID {
        let receipt = environment.newUUID()
        try await store.transaction { transaction in
            try EraseUser(keys: keys)(
                try Self.line(name, in: transaction).user.id, actor: actor, reason: reason, auditID: receipt,
                in: transaction)
        }
        return receipt
    }

    /// Challenges every session of a user: they must prove who they are again. How many there were.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func challenge(_ name: String, reason: AuditReason?) async throws -> Int {
        let auditID = environment.newUUID()
        return try await store.transaction { transaction in
            let user = try Self.line(name, in: transaction).user.id
            let challenged = try SessionRepository(transaction).challenge(.user(user), at: transaction.now)
            try AuditRepository(transaction).append(
                .sessionChallenged, subject: "user \(user)", actor: actor, reason: reason, id: auditID)
            try ChangeLog(transaction).announce(.user(user))
            return challenged
        }
    }

    /// The user whom an admin names.
    ///
    /// - Throws: `Refusal` `not_found`.
    static func line(_ name: String, in transaction: any Transaction) throws -> Line {
        let users = UserRepository(transaction)
        var found: User?
        if let id = UserID(name[...]) {
            found = try users.find(id)
        } else if let slash = name.firstIndex(of: "/"), let slug = Slug(String(name[..<slash])),
            let provider = try ProviderRepository(transaction).find(slug)
        {
            found = try users.find(providerID: provider.id, externalID: String(name[name.index(after: slash)...]))
        }
        guard let user = found else { throw Refusal(.notFound, "There is no such user.") }
        return Line(user: user, address: try address(of: user, in: transaction))
    }

    private static func address(of user: User, in transaction: any Transaction) throws -> String {
        try ProviderRepository(transaction).find(user.providerID)?.address(of: user.externalID) ?? user.externalID
    }
}
