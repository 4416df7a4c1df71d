import Encoding
import Foundation

/// An event about a user that its provider is notified of, in the terms of the shared signals profiles. Sessions and
/// levels follow CAEP 1.0, accounts RISC 1.0.
package enum ProviderEvent: Sendable, Equatable {
    /// A session ended for any reason (CAEP 1.0 §3.1).
    case sessionRevoked(SessionID)
    /// A user's assurance level rose or fell (CAEP 1.0 §3.4).
    case assuranceLevelChanged(from: Assurance, to: Assurance)
    /// The user is banned (RISC 1.0 §2.3).
    case accountDisabled
    /// The user's ban was lifted (RISC 1.0 §2.4); sessions stay ended.
    case accountEnabled
    /// The user was erased (RISC 1.0 §2.2).
    case accountPurged
    /// The certificate of a device with a session of the user was revoked (CAEP 1.0 §3.3). Only streams carry it.
    case certificateRevoked(serial: String)
    /// What the maker of a device attested about the key of a certificate was revoked (CAEP 1.0 §3.3). Only streams carry
    /// it.
    case attestationRevoked(serial: String)
    /// The user's wallet proved an age (CAEP 1.0 §3.2). Only streams carry it.
    case ageProven(AgeProof)
}

package extension ProviderEvent {
    /// The URIs of all events that a stream can carry.
    static let types = [
        "caep/event-type/\(sessionRevokedName)", "caep/event-type/assurance-level-change",
        "caep/event-type/\(credentialChangeName)", "caep/event-type/\(claimsChangeName)",
        "risc/event-type/\(accountDisabledName)",
        "risc/event-type/account-enabled", "risc/event-type/account-purged",
    ].map { root + $0 }

    private static let root = "https://schemas.openid.net/secevent/"

    var type: String {
        let profile =
            switch self {
            case .sessionRevoked, .assuranceLevelChanged, .certificateRevoked, .attestationRevoked, .ageProven: "caep"
            case .accountDisabled, .accountEnabled, .accountPurged: "risc"
            }
        return "\(Self.root)\(profile)/event-type/\(name)"
    }

    /// Whether webhooks receive it too. Events that were introduced with streams are not sent to them.
    var isForWebhooks: Bool {
        switch self {
        case .certificateRevoked, .attestationRevoked, .ageProven: false
        case .sessionRevoked, .assuranceLevelChanged, .accountDisabled, .accountEnabled, .accountPurged: true
        }
    }

    /// The last segment of the event's URI.
    var name: String {
        switch self {
        case .sessionRevoked: Self.sessionRevokedName
        case .assuranceLevelChanged: "assurance-level-change"
        case .accountDisabled: Self.accountDisabledName
        case .accountEnabled: "account-enabled"
        case .accountPurged: "account-purged"
        case .certificateRevoked, .attestationRevoked: Self.credentialChangeName
        case .ageProven: Self.claimsChangeName
        }
    }

    private static let sessionRevokedName = "session-revoked"
    private static let credentialChangeName = "credential-change"
    private static let claimsChangeName = "token-claims-change"
    private static let accountDisabledName = "account-disabled"

    // Events that providers can send too.
    static let sessionRevokedType = "\(root)caep/event-type/\(sessionRevokedName)"
    static let credentialChangeType = "\(root)caep/event-type/\(credentialChangeName)"
    static let accountDisabledType = "\(root)risc/event-type/\(accountDisabledName)"

    /// The stored form in the outbox. It contains ids, levels and proved ages, and nothing else about
    /// a person.
    var jsonText: String {
        let event = JSONValue.string(name)
        return switch self {
        case .sessionRevoked(let session):
            JSONValue.object(["event": event, "session": .string(session.description)]).jsonText
        case .assuranceLevelChanged(let from, let to):
            JSONValue.object(["event": event, "from": .string(from.rawValue), "to": .string(to.rawValue)]).jsonText
        case .certificateRevoked(let serial):
            JSONValue.object(["event": event, "serial": .string(serial)]).jsonText
        case .attestationRevoked(let serial):
            JSONValue.object(["event": event, "attested_serial": .string(serial)]).jsonText
        case .ageProven(let proof):
            JSONValue.object(["event": event, "ages": .string(proof.text)]).jsonText
        case .accountDisabled, .accountEnabled, .accountPurged: JSONValue.object(["event": event]).jsonText
        }
    }

    /// Parses ``jsonText``; `nil` for anything else.
    init?(jsonText: [UInt8]) {
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
        case Self.credentialChangeName:
            if let serial = value["attested_serial"]?.text {
                self = .attestationRevoked(serial: serial)
                return
            }
            guard let serial = value["serial"]?.text else { return nil }
            self = .certificateRevoked(serial: serial)
        case Self.claimsChangeName:
            guard let proof = value["ages"]?.text.flatMap({ AgeProof(text: $0) }) else { return nil }
            self = .ageProven(proof)
        case Self.accountDisabledName: self = .accountDisabled
        case "account-enabled": self = .accountEnabled
        case "account-purged": self = .accountPurged
        default: return nil
        }
    }
}
