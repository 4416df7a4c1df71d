import Foundation

/// An act of an administrator that takes effect when another one confirms it. An urgent act took effect at once, and is
/// shown to the others for a day.
package struct WaitingAct: Sendable, Equatable {
    package let id: WaitingActID
    package let kind: Kind
    /// What it is about, as in the audit log: `user 0192…`.
    package let subject: String
    /// What is to be done, in JSON: ids, codes and blind indexes, no personal data.
    package let content: String
    /// The number of users that it affects. It must not affect more when it is confirmed.
    package let users: Int
    /// The reason for the audit log.
    package let reason: String?
    package let requestedBy: AdministratorID
    package let createdAt: Date
    package let isUrgent: Bool

    package init(
        id: WaitingActID, kind: Kind, subject: String, content: String, users: Int, reason: String?,
        requestedBy: AdministratorID, createdAt: Date, isUrgent: Bool
    ) {
        self.id = id
        self.kind = kind
        self.subject = subject
        self.content = content
        self.users = users
        self.reason = reason
        self.requestedBy = requestedBy
        self.createdAt = createdAt
        self.isUrgent = isUrgent
    }
}

package extension WaitingAct {
    enum Kind: String, Sendable, CaseIterable {
        case ban
        case erasure
        /// No user of a provider can sign in.
        case disabling
    }

    /// Seconds for which it can be confirmed, and for which an urgent one is shown.
    static let lifetime: TimeInterval = 86_400

    /// Whether an administrator was added an hour before the act was requested, and did not request it. Otherwise the
    /// requester could add an administrator and confirm the act in that name.
    func mayBeConfirmed(by administrator: Administrator) -> Bool {
        administrator.id != requestedBy
            && administrator.createdAt <= createdAt.addingTimeInterval(-Administrator.noticePeriod)
    }

    /// Whether it can be confirmed.
    func isWaiting(at now: Date) -> Bool { !isUrgent && now < createdAt.addingTimeInterval(Self.lifetime) }
}
