import Database
import Domain
import Foundation
import Repositories

package extension Administration {
    /// A session that a key opened or renewed.
    struct AffectedSession: Sendable {
        package let sessionID: SessionID
        package let userID: UserID
        package let externalID: String
        package let deviceID: DeviceID?
        package let applicationID: ApplicationID?
        package let keyID: ProviderKeyID
        /// When the key opened or renewed it.
        package let at: Date
    }

    /// Lists the sessions that some keys opened or renewed, as far as sign-ins and sessions are still stored, in parts.
    /// Each session is listed once.
    ///
    /// - Parameter write: receives a part.
    /// - Returns: the number of users and of sessions.
    func listAffected(
        by keys: [ProviderKeyID], _ write: ([AffectedSession]) throws -> Void
    ) async throws -> (users: Int, sessions: Int) {
        var (users, sessions) = (Set<UserID>(), Set<SessionID>())
        func pass(_ found: [AffectedSession]) throws {
            let new = found.filter { sessions.insert($0.sessionID).inserted }
            users.formUnion(new.map(\.userID))
            if !new.isEmpty { try write(new) }
        }
        for key in keys {
            var last: SignInAttempt?
            repeat {
                let (found, next) = try await read(.manage) { [last] in
                    try Self.accepted(by: key, after: last, in: $0)
                }
                try pass(found)
                last = next
            } while last != nil
            var place: SessionRepository.SignedPlace? = .start
            while let from = place {
                let (found, next) = try await read(.manage) {
                    try SessionRepository($0).list(signedBy: key, after: from, limit: Self.page)
                }
                try pass(found.map { AffectedSession($0) })
                place = next
            }
        }
        return (users.count, sessions.count)
    }

    private static let page = 1000

    private static func accepted(
        by key: ProviderKeyID, after last: SignInAttempt?, in transaction: any Transaction
    ) throws -> (found: [AffectedSession], next: SignInAttempt?) {
        let attempts = try SignInRecordRepository(transaction).accepted(by: key, after: last, limit: page)
        let users = try UserRepository(transaction).find(Array(Set(attempts.compactMap(\.userID))))
        let found = attempts.compactMap { attempt -> AffectedSession? in
            guard let session = attempt.sessionID, let user = attempt.userID.flatMap({ users[$0] }) else { return nil }
            return AffectedSession(
                sessionID: session, userID: user.id, externalID: user.externalID, deviceID: attempt.deviceID,
                applicationID: attempt.applicationID, keyID: key, at: attempt.at)
        }
        return (found, attempts.count < page ? nil : attempts.last)
    }
}

extension Administration.AffectedSession {
    fileprivate init(_ session: Session) {
        self.init(
            sessionID: session.id, userID: session.userID, externalID: session.externalID, deviceID: session.deviceID,
            applicationID: session.applicationID, keyID: session.providerKeyID, at: session.renewedAt)
    }
}
