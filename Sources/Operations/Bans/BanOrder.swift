import Cards
import Domain
import Foundation
import PhoneNumbers
import Repositories

/// The subject that an admin bans or whose bans an admin lifts.
package enum BanTarget: Sendable {
    /// A user, by id or by `<provider slug>/<external id>`.
    case user(String)
    case phone(PhoneNumber)
    case document(DocumentName)
    case device(DeviceID)
    /// A number or document by its blind indexes, as an order that waits has it.
    case indexes(Ban.SubjectKind, [(version: Int, subject: BanEntry.Subject)])

    var kind: Ban.SubjectKind {
        switch self {
        case .user: .user
        case .phone: .phone
        case .document: .document
        case .device: .device
        case .indexes(let kind, _): kind
        }
    }
}

package extension BanTarget {
    /// Parses `ISSUER:NUMBER`, such as `VA:T64235789`.
    ///
    /// - Throws: `Refusal` `malformed_request`, without any part of the number.
    static func document(reading text: String) throws(Refusal) -> BanTarget {
        guard let name = DocumentName(text) else {
            throw Refusal.unreadableDocument
        }
        return .document(name)
    }

    /// Parses a number in its international form.
    ///
    /// - Throws: `Refusal` `malformed_request`.
    static func phone(reading text: String) throws(Refusal) -> BanTarget {
        .phone(try PhoneNumber(fromCaller: text))
    }
}

extension BanTarget: Confidential {}

/// The ban that an admin requests.
package struct BanOrder: Sendable {
    let target: BanTarget
    package let scope: Ban.Scope
    let reason: Ban.Reason
    /// The finding, which is sealed and shown to admins only.
    let note: String?
    /// When the ban expires; `nil` if it is permanent.
    package let endsAt: Date?
    /// Whether the user's devices are banned too.
    package let withDevices: Bool
    /// Whether it replaces active bans that are at least as strict. Otherwise it is refused if there are any.
    package let replaces: Bool

    package var kind: Ban.SubjectKind { target.kind }

    /// - Throws: `Refusal` `malformed_request` for devices of a subject that is not a user, or a note that is too long
    ///   or contains invisible characters.
    package init(
        target: BanTarget, scope: Ban.Scope, reason: Ban.Reason, note: String?, endsAt: Date?, withDevices: Bool,
        replaces: Bool = false
    ) throws(Refusal) {
        guard !withDevices || target.kind == .user else {
            throw Refusal.devicesWithoutUser
        }
        if let note { try Ban.requirePlain(note: note) }
        self.target = target
        self.scope = scope
        self.reason = reason
        self.note = note
        self.endsAt = endsAt
        self.withDevices = withDevices
        self.replaces = replaces
    }
}

package struct BanImpact: Sendable {
    /// Active bans that the new ban replaces.
    package let replaced: [Ban]
    /// Users who lose permissions or sessions.
    package let users: [UserSummary]
    package let sessions: [Session]
    package let devices: [DeviceID]
    /// The number of permissions and open requests that end. At most 1,000 of each user are counted.
    package let authorizations: Int
    /// Whether a telephone number is banned.
    package let holdsNumber: Bool
    /// Whether a document is banned.
    package let holdsDocument: Bool

    /// The affected users, as an entry of the audit log names them.
    var subjects: [AuditSubject] { users.map { AuditSubject(.user, $0.user.id) } }

    /// ``authorizations`` as a text for people.
    package var authorizationsText: String {
        authorizations < AuthorizationRepository.countLimit ? "\(authorizations)" : "\(authorizations) or more"
    }
}
