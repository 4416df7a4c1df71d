import Database
import Domain
import Foundation
import Repositories

package extension Administration {
    /// A user with what an admin asks first. It has no personal data.
    struct UserDetail: Sendable {
        package let summary: UserSummary
        /// The ban that forbids the user to sign in, or else to message; `nil` if there is none.
        package let ban: Ban?
        /// The sessions that have not ended, newest first, one more than `BoundedCount/most` if there are more.
        package let sessions: [Session]
        /// The number of devices with a sign-in that is still recorded, up to `UserTraceRepository/most` sign-ins back.
        /// Counted up to one more than `BoundedCount/most`.
        package let devices: Int
        /// The number of cards by status.
        package let cards: [CardStatus: Int]
        package let phoneVerifiedAt: Date?
        package let identityVerifiedAt: Date?
        /// Why the number is no longer verified; `nil` if it is, or if there is none.
        package let suspended: AuthenticatedUser.Suspension?
        /// When a session was last used, or a sign-in was accepted.
        package let lastUsedAt: Date?
        /// When the user's data was erased.
        package let erasedAt: Date?
    }

    /// Finds a user by id, or by `<provider slug>/<external id>`, with ban, sessions, devices, cards and last use.
    ///
    /// - Throws: `Refusal` `not_found`.
    func readUserDetail(_ name: String) async throws -> UserDetail {
        try await read(.support) { transaction in
            let summary = try UserSummary.find(name, in: transaction)
            return try transaction.joined { try UserDetail(summary, in: $0) }
        }
    }
}

extension Administration.UserDetail {
    /// Reads by queries of which none depends on another.
    init(_ summary: UserSummary, in transaction: any Transaction) throws {
        let user = summary.user.id
        let traces = UserTraceRepository(transaction, of: user)
        let entries = try BanRepository(transaction).holdsInForce(on: user)
        let bans = [Ban.Scope.all, .messaging].map {
            BanEntry.activeBan(among: entries, for: $0, at: transaction.now)
        }
        let proofs = try traces.proofs()
        self.init(
            summary: summary, ban: bans.compactMap(\.self).first?.ban,
            sessions: try SessionRepository(transaction).newestOpen(.user(user), limit: BoundedCount.most + 1),
            devices: try traces.countDevices(), cards: try traces.cards(),
            phoneVerifiedAt: proofs?.phone, identityVerifiedAt: proofs?.identity, suspended: proofs?.suspended,
            lastUsedAt: try traces.lastUse(), erasedAt: try traces.erasedAt())
    }
}
