import Cards
import Domain
import Foundation
import PhoneNumbers
import Repositories

/// What an admin names to be banned, or to have a ban lifted from.
package enum BanTarget: Sendable {
    /// A user, by id or by `<provider slug>/<external id>`.
    case user(String)
    case phone(PhoneNumber)
    case document(DocumentName)
    case device(DeviceID)

    /// Reads `JURISDICTION:NUMBER`, such as `VA:T64235789`.
    ///
    /// - Throws: `Refusal` `malformed_request`. It holds nothing of the number.
    package static func document(reading text: String) throws(Refusal) -> BanTarget {
        guard let name = DocumentName(text) else {
            throw Refusal.unreadableDocument
        }
        return .document(name)
    }

    /// What kind of thing it is.
    package var kind: BanSubjectKind {
        switch self {
        case .user: .user
        case .phone: .phone
        case .document: .document
        case .device: .device
        }
    }
}

extension BanTarget: Confidential {}

/// What an admin orders.
package struct BanOrder: Sendable {
    package let target: BanTarget
    package let scope: Ban.Scope
    package let reason: Ban.Reason
    /// What was found; kept sealed, shown to admins alone.
    package let note: String?
    /// Until when; `nil` for good.
    package let endsAt: Date?
    /// Whether the user's devices are banned, too.
    package let withDevices: Bool
    /// Whether it takes the place of the bans in force that it would be refused for.
    package let replaces: Bool

    /// Joins the parts.
    ///
    /// - Throws: `Refusal` `malformed_request` for devices of something that is no user, or a note that is too long or holds
    ///   hidden characters.
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
    /// Bans in force that it takes the place of.
    package let replaced: [Ban]
    /// Users who may do less, or lose sessions.
    package let users: [UserSummary]
    package let sessions: [Session]
    package let devices: [DeviceID]
    /// Authorizations that end, open requests and approved ones; of one user no more than 1,000 are counted.
    package let authorizations: Int
    /// Whether a telephone number is held.
    package let holdsNumber: Bool
    /// Whether a document is held.
    package let holdsDocument: Bool

    /// ``authorizations`` for people.
    package var authorizationsText: String {
        authorizations < AuthorizationRepository.countLimit ? "\(authorizations)" : "\(authorizations) or more"
    }
}
