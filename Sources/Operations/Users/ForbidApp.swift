import Database
import Domain
import Foundation
import Repositories

/// An app that has sessions of a user, or that the user forbids: the number and the last use of the sessions that have
/// not ended or expired, and when the user forbade the app.
package typealias UserApp = (app: Application, sessions: Int, lastUsedAt: Date?, forbiddenAt: Date?)

/// The apps of a user among those of the provider.
private func userApps(
    of user: UserID, among apps: [Application], _ policy: SessionPolicy, in transaction: any Transaction
) throws -> [UserApp] {
    let now = transaction.now
    let open = try SessionRepository(transaction).listOpen(.user(user)).filter {
        [.authenticated, .challenged].contains($0.effectiveState(at: now, policy: policy))
    }
    let sessions = Dictionary(grouping: open, by: \.applicationID)
    let forbidden = Dictionary(
        try ForbiddenAppRepository(transaction).list(of: user).map { ($0.app, $0.since) },
        uniquingKeysWith: { first, _ in first })
    return apps.compactMap { app in
        let (sessions, since) = (sessions[app.id] ?? [], forbidden[app.id])
        guard !sessions.isEmpty || since != nil else { return nil }
        return (app, sessions.count, sessions.map(\.lastUsedAt).max(), since)
    }
}

package extension Service {
    /// The apps that may read the user's data, because they have sessions of the user, and those that the user forbids.
    ///
    /// - Throws: `Refusal` `unavailable`.
    func listApps(for session: Session) async throws -> [UserApp] {
        let apps = try await caches.providers.find(session.providerID)?.applications ?? []
        return try await read(for: session) { transaction, holder in
            try userApps(of: holder.user.id, among: apps, policy[\.sessions], in: transaction)
        }
    }

    /// Forbids an app: its sessions of the user end at once on all nodes, and it cannot open others until the user
    /// allows it again. A repetition has no effect.
    ///
    /// The user's other sessions stay. Only a session that is opened during this transaction may end with them.
    ///
    /// - Throws: `Refusal` `not_found`, `conflict` for the app of this session, `unavailable`.
    func forbidApp(_ id: String, for session: Session) async throws {
        let app = try await application(id, of: session.providerID)
        guard app.id != session.applicationID else { throw Refusal.appOfThisSession }
        try await act(for: session) { transaction, holder, events in
            let user = holder.user.id
            guard try ForbiddenAppRepository(transaction).insert(app.id, of: user, at: transaction.now) else { return }
            try ForbiddenAppRepository(transaction).spareFromRevocation(of: user, besides: app.id)
            try RevokeSessions(transaction: transaction)(.user(user), .byUser, &events)
            events.record(.appForbidden(app.id, by: user), by: "user \(user)")
        }
    }

    /// Allows an app again. It has no effect for an app that is allowed.
    ///
    /// - Throws: `Refusal` `not_found`, `unavailable`.
    func allowApp(_ id: String, for session: Session) async throws {
        let app = try await application(id, of: session.providerID)
        try await act(for: session) { transaction, holder, events in
            let user = holder.user.id
            guard try ForbiddenAppRepository(transaction).delete(app.id, of: user) else { return }
            events.record(.appAllowed(app.id, by: user), by: "user \(user)")
        }
    }

    private func application(_ id: String, of provider: ProviderID) async throws -> Application {
        guard let id = ApplicationID(id[...]),
            let app = try await caches.providers.find(provider)?.applications.first(where: { $0.id == id })
        else { throw Refusal.unknownOwnApp }
        return app
    }
}

package extension Administration {
    /// The apps that have sessions of a user, and those that the user forbids.
    ///
    /// - Throws: `Refusal` `not_found`.
    func listApps(of name: String, policy: SessionPolicy) async throws -> [UserApp] {
        try await read(.support) { transaction in
            let user = try UserSummary.find(name, in: transaction).user
            let apps = try ProviderRepository(transaction).listApplications(of: user.providerID)
            return try userApps(of: user.id, among: apps, policy, in: transaction)
        }
    }

    /// Allows an app for a user who forbade it and has no other app to allow it in.
    ///
    /// - Returns: the app, and whether it was forbidden.
    /// - Throws: `Refusal` `not_found`, `malformed_request` for a malformed id.
    func allowApp(
        _ typed: TypedID<Kind.Application>, of name: String, reason: AuditReason?
    ) async throws -> (app: ApplicationID, wasForbidden: Bool) {
        try await write(.manage) { transaction, events in
            let user = try UserSummary.find(name, in: transaction).user
            let apps = try ProviderRepository(transaction).listApplications(of: user.providerID)
            let app = try typed.resolve(in: transaction)
            guard apps.contains(where: { $0.id == app }) else { throw Refusal.unknownApp(typed.text) }
            guard try ForbiddenAppRepository(transaction).delete(app, of: user.id) else { return (app, false) }
            events.record(.appAllowed(app, by: user.id), by: actor, because: reason)
            return (app, true)
        }
    }
}
