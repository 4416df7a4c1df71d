import Encoding
import Foundation

/// An event about a user that its provider is notified of, in the terms of the shared signals profiles. Sessions and
/// levels follow CAEP 1.0, accounts RISC 1.0.
package enum ProviderEvent: Sendable, Equatable {
    /// A session ended, whoever ended it (CAEP 1.0 §3.1).
    case sessionRevoked(SessionID)
    /// A user's assurance level rose or fell (CAEP 1.0 §3.4).
    case assuranceLevelChanged(from: Assurance, to: Assurance)
    /// The user is banned (RISC 1.0 §2.3).
    case accountDisabled
    /// The user's ban was lifted (RISC 1.0 §2.4); sessions stay ended.
    case accountEnabled
    /// The user was erased (RISC 1.0 §2.2).
    case accountPurged

    package var type: String {
        let profile =
            switch self {
            case .sessionRevoked, .assuranceLevelChanged: "caep"
            case .accountDisabled, .accountEnabled, .accountPurged: "risc"
            }
        return "https://schemas.openid.net/secevent/\(profile)/event-type/\(name)"
    }

    /// The last word of the URI.
    package var name: String {
        switch self {
        case .sessionRevoked: Self.sessionRevokedName
        case .assuranceLevelChanged: "assurance-level-change"
        case .accountDisabled: "account-disabled"
        case .accountEnabled: "account-enabled"
        case .accountPurged: "account-purged"
        }
    }

    private static let sessionRevokedName = "session-revoked"

    /// The URI of CAEP's session-revoked, the one event that providers may send too.
    package static let sessionRevokedType = "https://schemas.openid.net/secevent/caep/event-type/\(sessionRevokedName)"

    /// The stored form in the outbox. It contains ids and levels, and no personal data.
    package var jsonText: String {
        let event = JSONValue.string(name)
        return switch self {
        case .sessionRevoked(let session):
            JSONValue.object(["event": event, "session": .string(session.description)]).jsonText
        case .assuranceLevelChanged(let from, let to):
            JSONValue.object(["event": event, "from": .string(from.rawValue), "to": .string(to.rawValue)]).jsonText
        case .accountDisabled, .accountEnabled, .accountPurged: JSONValue.object(["event": event]).jsonText
        }
    }

    /// Parses ``jsonText``; `nil` for anything else.
    package init?(jsonText: [UInt8]) {
        guard let value = try? StrictJSON.parse(jsonText) else { return nil }
        switch value["event"]?.text {
        case Self.sessionRevokedName:
            guard let session = value["session"]?.text.flatMap({ SessionID($0[...]) }) else { return nil }
            self = .sessionRevoked(session)
        case "assurance-level-change":
            guard let from = value["from"]?.text.flatMap(Assurance.init),
                let to = value["to"]?.text.flatMap(Assurance.init)
            else { return nil }
            self = .assuranceLevelChanged(from: from, to: to)
        case "account-disabled": self = .accountDisabled
        case "account-enabled": self = .accountEnabled
        case "account-purged": self = .accountPurged
        default: return nil
        }
    }
}
