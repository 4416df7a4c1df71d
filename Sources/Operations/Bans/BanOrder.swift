import Cards
import Domain
import Foundation
import PhoneNumbers

/// What an admin names to be banned, or to have a ban lifted from.
public enum BanTarget: Sendable {
    /// A user, by id or by `<provider slug>/<external id>`.
    case user(String)
    /// A telephone number.
    case phone(PhoneNumber)
    /// An identity document.
    case document(DocumentName)
    /// A device.
    case device(DeviceID)

    /// Reads `JURISDICTION:NUMBER`, such as `VA:T64235789`.
    ///
    /// - Throws: ``Refusal`` `malformed_request`. It holds nothing of the number.
    public static func document(reading text: String) throws(Refusal) -> BanTarget {
        guard let name = DocumentName(text) else {
            throw Refusal(
                .malformedRequest,
                "A document is JURISDICTION:NUMBER, such as VA:T64235789; a country has three letters.")
        }
        return .document(name)
    }

    /// What kind of thing it is.
    public var kind: BanSubjectKind {
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
public struct BanOrder: Sendable {
    /// Who or what.
    public let target: BanTarget
    /// What it forbids.
    public let scope: Ban.Scope
    /// Why, in one word.
    public let reason: Ban.Reason
    /// What was found; kept sealed, shown to admins alone.
    public let note: String?
    /// Until when; `nil` for good.
    public let endsAt: Date?
    /// Whether the user's devices are banned, too.
    public let withDevices: Bool

    /// Joins the parts.
    ///
    /// - Throws: ``Refusal`` `malformed_request` for devices of something that is no user, or a note that is too long or holds
    ///   hidden characters.
    public init(
        target: BanTarget, scope: Ban.Scope, reason: Ban.Reason, note: String?, endsAt: Date?, withDevices: Bool
    ) throws(Refusal) {
        guard !withDevices || target.kind == .user else {
            throw Refusal(.malformedRequest, "--with-devices goes with --user.")
        }
        if let note { try Ban.requirePlain(note: note) }
        self.target = target
        self.scope = scope
        self.reason = reason
        self.note = note
        self.endsAt = endsAt
        self.withDevices = withDevices
    }
}

/// Whom a ban hits.
public struct BanImpact: Sendable {
    /// Users who may do less, or lose sessions.
    public let users: [AdministerUsers.Line]
    /// Sessions that end.
    public let sessions: [Session]
    /// Devices that are banned.
    public let devices: [DeviceID]
    /// Authorizations that end, open requests and approved ones.
    public let authorizations: Int
    /// Whether a telephone number is held.
    public let holdsNumber: Bool
    /// Whether a document is held.
    public let holdsDocument: Bool
}
