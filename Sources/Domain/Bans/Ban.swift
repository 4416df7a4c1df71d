import Encoding
import Foundation

/// That the company shuts somebody or something out: what for, by whom, and for how long.
///
/// What it holds is said by its ``BanEntry``s: what the admin named, what that extends to, and whom it was found to hit.
package struct Ban: Sendable, Equatable {
    package let id: BanID
    package let kind: BanSubjectKind
    package let scope: Scope
    /// Why, in one word that its subject may be told.
    package let reason: Reason
    /// Who decided: `admin <operating system user>`.
    package let actor: String
    package let createdAt: Date
    /// From when on it holds no more by itself; `nil` if it is permanent.
    package let endsAt: Date?
    /// That it was lifted before its end.
    package var lifted: Lifting?

    package enum Scope: String, Sendable, CaseIterable {
        /// To sign in, and everything behind it.
        case all
        /// To ask and to be asked for authorizations; signing in stays as it is.
        case messaging

        /// Whether what `other` forbids is forbidden by this, too.
        package func includes(_ other: Scope) -> Bool { self == .all || other == .messaging }
    }

    /// A reason in one word of the company's own, such as `spam`: 1 to 40 lower-case letters, digits, `_` and `-`.
    package struct Reason: RawRepresentable, Hashable, Sendable {
        package let rawValue: String

        /// Reads a word; `nil` for what is none. It goes to the banned user: it must say nothing of anybody else.
        package init?(rawValue: String) {
            let isWord = rawValue.utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x5F || byte == 0x2D
            }
            guard isWord, (1...40).contains(rawValue.utf8.count) else { return nil }
            self.rawValue = rawValue
        }
    }

    /// That a ban was lifted.
    package struct Lifting: Sendable, Equatable {
        package let at: Date
        package let actor: String

        package init(at: Date, actor: String) {
            self.at = at
            self.actor = actor
        }
    }

    /// What a ban is at a moment.
    package enum State: String, Sendable, CaseIterable {
        case active
        case expired
        case lifted
    }

    /// Joins the parts, as read from a row or decided by an admin.
    package init(
        id: BanID, kind: BanSubjectKind, scope: Scope, reason: Reason, actor: String, createdAt: Date, endsAt: Date?,
        lifted: Lifting?
    ) {
        self.id = id
        self.kind = kind
        self.scope = scope
        self.reason = reason
        self.actor = actor
        self.createdAt = createdAt
        self.endsAt = endsAt
        self.lifted = lifted
    }

    /// Says what it is at a moment. What was lifted stays lifted; at its end it is over.
    package func state(at now: Date) -> State {
        if lifted != nil { return .lifted }
        return endsAt.map { now < $0 } ?? true ? .active : .expired
    }

    /// Whether it holds at a moment.
    package func isActive(at now: Date) -> Bool { state(at: now) == .active }
}

/// What a ban can be about.
package enum BanSubjectKind: String, Sendable, CaseIterable {
    /// One user of one provider.
    case user
    /// A telephone number, of whichever provider's user.
    case phone
    /// An identity document, of whichever provider's user.
    case document
    /// A device, whoever uses it.
    case device
}

/// One subject that a ban is in force for.
package struct BanEntry: Sendable, Equatable {
    package let ban: Ban
    package let subject: Subject
    /// Why the ban has this entry.
    package let origin: Origin
    /// When the entry ends; `nil` if the ban is permanent. Never later than the ban's own end.
    package let endsAt: Date?
    /// Under which version of the index key a blind index was made.
    package let indexVersion: Int?

    /// One thing that a ban can hold, in the form in which it is stored and looked for: numbers and documents by their
    /// blind indexes alone.
    package enum Subject: Hashable, Sendable {
        case user(UserID)
        /// The blind index of a number in its E.164 form.
        case phone(Digest256)
        /// The blind index of a document's fingerprint.
        case document(Digest256)
        case device(DeviceID)
        /// The SHA-256 of a public key that a banned device has used (DER SubjectPublicKeyInfo).
        case deviceKey(Digest256)

        /// What sessions hang on, if that is what it is.
        package var scope: RevocationScope? {
            switch self {
            case .user(let id): .user(id)
            case .device(let id): .device(id)
            case .phone, .document, .deviceKey: nil
            }
        }
    }

    /// Why a ban has an entry. The raw values are stored.
    package enum Origin: String, Sendable, CaseIterable {
        /// The ban names the subject.
        case direct = "named"
        /// The subject belongs to the user whom the ban names.
        case derived = "extended"
        /// A user who has the number or document that the ban names.
        case holder

        /// The word for people and scripts.
        package var word: String {
            switch self {
            case .direct: "direct"
            case .derived: "derived"
            case .holder: "holder"
            }
        }
    }

    package init(ban: Ban, subject: Subject, origin: Origin, endsAt: Date?, indexVersion: Int?) {
        self.ban = ban
        self.subject = subject
        self.origin = origin
        self.endsAt = endsAt
        self.indexVersion = indexVersion
    }

    /// Whether it is in force at a moment.
    package func isActive(at now: Date) -> Bool {
        ban.isActive(at: now) && endsAt.map { now < $0 } ?? true
    }

    /// Of several entries, the one that forbids something at a moment; the longest of them, which is what its subject has
    /// to be told. `nil` if nothing forbids it.
    package static func activeBan(among entries: [BanEntry], for scope: Ban.Scope, at now: Date) -> BanEntry? {
        entries.filter { $0.isActive(at: now) && $0.ban.scope.includes(scope) }.max { left, right in
            let ends = (left.endsAt ?? .distantFuture, right.endsAt ?? .distantFuture)
            return ends.0 == ends.1 ? left.ban.createdAt < right.ban.createdAt : ends.0 < ends.1
        }
    }
}

extension BanPolicy {
    /// Until when a user's ban holds the user's proven number, too: numbers pass on to other people, so it is never
    /// longer than policy says. `nil` if policy leaves numbers alone.
    package func phoneHoldEnd(ofBanUntil end: Date?, at now: Date) -> Date? {
        guard phoneBan > 0 else { return nil }
        let limit = now.addingTimeInterval(phoneBan)
        return end.map { min($0, limit) } ?? limit
    }
}

extension Assurance {
    /// Whether a user's ban holds the document that gave this level. Below it anyone could show a stranger's licence
    /// and have it banned.
    package var carriesBanToDocument: Bool { self >= .issuerChecked }
}

extension Ban {
    /// The longest note, in bytes.
    package static let maximumNote = 4096

    /// Refuses a note that is too long or holds what nobody sees.
    ///
    /// - Throws: ``Refusal`` `malformed_request`.
    package static func requirePlain(note: String) throws(Refusal) {
        try PlainText.require(note, about: .note, bytes: 0...maximumNote, for: .note)
    }
}
