import Encoding
import Foundation

/// What a role permits. Each operation of an administrator requires one right.
package enum AdminRight: Sendable, CaseIterable {
    /// Find the id of an object by its beginning.
    case resolve
    /// Read the audit log, the state of the store and its nodes, and the list of administrators.
    case audit
    /// Find users by their external ids, read them without the facts of cards, end and challenge their sessions.
    case support
    /// Read the facts of cards in review and decide about the cards.
    case review
    /// All other reading and changing: bans, devices, certificates, providers, the outbox, personal data, administrators.
    case manage
}

/// The work of an administrator.
package enum AdminRole: String, Sendable, CaseIterable {
    case auditor
    case support
    case reviewer
    case security
}

package extension AdminRole {
    func includes(_ right: AdminRight) -> Bool {
        switch right {
        case .resolve: true
        case .audit: self == .auditor || self == .security
        case .support: self == .support || self == .security
        case .review: self == .reviewer || self == .security
        case .manage: self == .security
        }
    }
}

/// A person who administers the service under a role: by a certificate, or by an operating system account.
package struct Administrator: Sendable, Equatable {
    package let id: AdministratorID
    /// The name in the audit log. A removed administrator keeps it.
    package let name: String
    package let role: AdminRole
    /// The operating system account whose commands have the role; `nil` if there is none.
    package let account: String?
    package let createdAt: Date
    package let removedAt: Date?

    package init(
        id: AdministratorID, name: String, role: AdminRole, account: String?, createdAt: Date, removedAt: Date?
    ) {
        self.id = id
        self.name = name
        self.role = role
        self.account = account
        self.createdAt = createdAt
        self.removedAt = removedAt
    }
}

package extension Administrator {
    /// Whether a text can be the name of an administrator or of an account: 1 to 64 ASCII letters, digits and `. _ @ + -`.
    static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "@"),
                    UInt8(ascii: "+"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// Whether acts wait because of this administrator, who has the role or was removed with it in the last hour. Otherwise
    /// an administrator could remove the others and then act alone.
    func isSecond(at now: Date) -> Bool {
        role.includes(.manage) && removedAt.map { now < $0.addingTimeInterval(Self.noticePeriod) } ?? true
    }

    /// Refuses what the role does not permit, and everything after the removal.
    ///
    /// - Throws: ``Refusal`` `insufficient_scope`.
    func require(_ right: AdminRight) throws(Refusal) {
        guard removedAt == nil else { throw Refusal.administratorRemoved(name) }
        guard role.includes(right) else { throw Refusal.roleInsufficient(self, right) }
    }
}

extension Administrator {
    /// Seconds after which an addition or a removal has an effect on acts that need a second administrator. Until then the
    /// others can see it in the audit log.
    static let noticePeriod: TimeInterval = 3600
}

/// A certificate that an administrator was given. Only its digest is stored.
package struct AdministratorCertificate: Sendable, Equatable {
    package let thumbprint: Digest256
    package let notAfter: Date
    /// The digest of the issuing authority's key.
    package let authority: Digest256

    package init(thumbprint: Digest256, notAfter: Date, authority: Digest256) {
        self.thumbprint = thumbprint
        self.notAfter = notAfter
        self.authority = authority
    }
}
