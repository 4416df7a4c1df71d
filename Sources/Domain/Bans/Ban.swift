import Encoding
import Foundation

/// A ban: reason, author and duration.
///
/// Its ``BanEntry``s list the subjects: the one named, those derived from it, and the users affected.
package struct Ban: Sendable, Equatable {
    package let id: BanID
    package let kind: SubjectKind
    package let scope: Scope
    /// A code that the banned user may see.
    package let reason: Reason
    /// The admin who imposed the ban: `admin <operating system user>`.
    package let actor: String
    package let createdAt: Date
    /// When it expires; `nil` if it is permanent.
    package let endsAt: Date?
    /// When and why it was lifted; `nil` if it was not.
    package var lifted: Lifting?

    package init(
        id: BanID, kind: SubjectKind, scope: Scope, reason: Reason, actor: String, createdAt: Date, endsAt: Date?,
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
}

package extension Ban {
    /// The kinds of subject that can be banned.
    enum SubjectKind: String, Sendable, CaseIterable {
        /// One user of one provider.
        case user
        /// A telephone number, for the users of all providers.
        case phone
        /// An identity document, for the users of all providers.
        case document
        /// A device, for all of its users.
        case device
    }

    enum Scope: String, Sendable, CaseIterable {
        /// Sign-in and everything that requires it.
        case all
        /// Requesting, receiving and using authorizations to message; sign-in is still allowed.
        case messaging

        /// Whether this scope forbids everything that `other` forbids.
        package func includes(_ other: Scope) -> Bool { self == .all || other == .messaging }
    }

    /// A reason as a code of the company's own, such as `spam`: 1 to 40 lower-case letters, digits, `_` and `-`.
    struct Reason: RawRepresentable, Hashable, Sendable {
        package let rawValue: String

        /// `nil` if the word is not valid. The banned user sees it, so it must not reveal anything about other people.
        package init?(rawValue: String) {
            let isWord = rawValue.utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x5F || byte == 0x2D
            }
            guard isWord, (1...40).contains(rawValue.utf8.count) else { return nil }
            self.rawValue = rawValue
        }
    }

    struct Lifting: Sendable, Equatable {
        package let at: Date
        package let actor: String

        package init(at: Date, actor: String) {
            self.at = at
            self.actor = actor
        }
    }

    /// The state of a ban at a point in time.
    enum State: String, Sendable, CaseIterable {
        case active
        case expired
        case lifted
    }

    /// A lifted ban stays lifted, also after the time when it would have expired.
    func state(at now: Date) -> State {
        if lifted != nil { return .lifted }
        return endsAt.map { now < $0 } ?? true ? .active : .expired
    }

    /// Whether it is in force.
    func isActive(at now: Date) -> Bool { state(at: now) == .active }

    /// The longest note, in bytes.
    static let maximumNote = 4096

    /// Refuses a note that is too long or contains invisible characters.
    ///
    /// - Throws: ``Refusal`` `malformed_request`.
    static func requirePlain(note: String) throws(Refusal) {
        try PlainText.require(note, about: .note, bytes: 0...maximumNote, for: .note)
    }
}

/// One subject of a ban.
package struct BanEntry: Sendable, Equatable {
    package let ban: Ban
    package let subject: Subject
    /// Why the ban has this entry.
    package let origin: Origin
    /// When the entry ends; `nil` if the ban is permanent. Never later than the ban's own end.
    package let endsAt: Date?
    /// The version of the index key that a blind index was made with.
    package let indexVersion: Int?

    package init(ban: Ban, subject: Subject, origin: Origin, endsAt: Date?, indexVersion: Int?) {
        self.ban = ban
        self.subject = subject
        self.origin = origin
        self.endsAt = endsAt
        self.indexVersion = indexVersion
    }
}

package extension BanEntry {
    /// A banned subject in its stored form. Numbers and documents are stored as blind indexes only.
    enum Subject: Hashable, Sendable {
        case user(UserID)
        /// The blind index of a number in its E.164 form.
        case phone(Digest256)
        /// The blind index of a document's fingerprint.
        case document(Digest256)
        case device(DeviceID)
        /// The SHA-256 of a public key that a banned device has used (DER SubjectPublicKeyInfo).
        case deviceKey(Digest256)

        /// The scope whose sessions the ban ends; `nil` for a subject that has no sessions of its own.
        package var scope: RevocationScope? {
            switch self {
            case .user(let id): .user(id)
            case .device(let id): .device(id)
            case .phone, .document, .deviceKey: nil
            }
        }
    }

    /// Why a ban has an entry. The raw values are stored.
    enum Origin: String, Sendable, CaseIterable {
        /// The ban names the subject.
        case direct = "named"
        /// The subject belongs to the user whom the ban names.
        case derived = "extended"
        /// A user who has the number or document that the ban names.
        case holder

        /// The word in output for people and scripts.
        package var word: String {
            switch self {
            case .direct: "direct"
            case .derived: "derived"
            case .holder: "holder"
            }
        }
    }

    /// Whether it is in force.
    func isActive(at now: Date) -> Bool {
        ban.isActive(at: now) && endsAt.map { now < $0 } ?? true
    }

    /// Of several entries, the one in force that expires last; its subject is informed of that one. `nil` if none
    /// forbids the scope.
    static func activeBan(among entries: [BanEntry], for scope: Ban.Scope, at now: Date) -> BanEntry? {
        entries.filter { $0.isActive(at: now) && $0.ban.scope.includes(scope) }.max { left, right in
            let ends = (left.endsAt ?? .distantFuture, right.endsAt ?? .distantFuture)
            return ends.0 == ends.1 ? left.ban.createdAt < right.ban.createdAt : ends.0 < ends.1
        }
    }
}

package extension BanPolicy {
    /// When the ban on a user's verified phone number ends. Numbers are reassigned to other people, so it never exceeds
    /// the policy's limit. `nil` if the policy does not ban numbers.
    func phoneHoldEnd(ofBanUntil end: Date?, at now: Date) -> Date? {
        guard phoneBan > 0 else { return nil }
        let limit = now.addingTimeInterval(phoneBan)
        return end.map { min($0, limit) } ?? limit
    }
}

package extension Assurance {
    /// Whether a ban of the user includes the document that gave this level. At lower levels anyone could show a
    /// stranger's licence and have it banned.
    var carriesBanToDocument: Bool { self >= .issuerChecked }
}
