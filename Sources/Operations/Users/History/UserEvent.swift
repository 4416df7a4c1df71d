import Domain
import Encoding
import Foundation
import Repositories

/// One line of a user's history. It has ids and codes, and no personal data.
package struct UserEvent: Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case signIn = "sign_in"
        case session, certificate, phone, card, ban
        /// An entry of the audit log.
        case audit
    }

    package let at: Date
    package let kind: Kind
    /// The id of the row, unique in the history.
    let id: String
    /// What happened, in a few words.
    package let what: String
    package var sessionID: SessionID?
    package var deviceID: DeviceID?
    package var applicationID: ApplicationID?
    package var keyID: ProviderKeyID?
    /// The code of a refused sign-in.
    package var code: String?
    /// The reason below a code, or of an act.
    package var reason: String?
    /// The actor, in the form of the audit log.
    package var actor: String?
    /// The number of an entry in the audit log.
    var sequence: Int64?
    /// The cursor to continue after this line.
    package internal(set) var cursor = ""

    init(at time: Date, _ kind: Kind, id: String, _ what: String) {
        (at, self.kind, self.id, self.what) = (time, kind, id, what)
    }

    /// A step of an object that a history shows in several lines.
    ///
    /// - Parameter step: its number. Steps of the same millisecond are in this order.
    init(at time: Date, _ kind: Kind, of object: some CustomStringConvertible, step: Int, _ what: String) {
        self.init(at: time, kind, id: "\(kind.rawValue)-\(object)-\(step)", what)
    }

    var place: HistoryPlace { HistoryPlace(at: at, id: id) }
}

extension UserEvent {
    init(_ attempt: SignInAttempt) {
        let noun = attempt.act == .open ? "sign-in" : "renewal"
        let result = attempt.isAccepted ? "accepted" : "refused"
        self.init(at: attempt.at, .signIn, id: attempt.id.description, "\(noun) \(result)")
        (sessionID, deviceID) = (attempt.sessionID, attempt.deviceID)
        (applicationID, keyID) = (attempt.applicationID, attempt.providerKeyID)
        (code, reason) = (attempt.code, attempt.reason)
    }

    init(_ past: PastSession) {
        let session = past.session
        let end = past.endedAt.map { "\(past.endReason ?? "ended") at \($0.rfc3339)" }
        let state = end ?? (session.state == .unauthenticated ? "ended" : session.state.rawValue)
        self.init(at: session.createdAt, .session, id: session.id.description, "opened, \(state)")
        (sessionID, deviceID) = (session.id, session.deviceID)
        (applicationID, keyID) = (session.applicationID, session.providerKeyID)
    }

    static func events(of certificate: DeviceCertificate) -> [UserEvent] {
        var issued = UserEvent(
            at: certificate.issuedAt, .certificate, of: certificate.serial, step: 1,
            certificate.replaces == nil ? "certificate issued" : "certificate renewed")
        issued.deviceID = certificate.deviceID
        guard let revoked = certificate.revoked else { return [issued] }
        var end = UserEvent(
            at: revoked.at, .certificate, of: certificate.serial, step: 2, "certificate revoked")
        (end.deviceID, end.reason) = (certificate.deviceID, revoked.reason)
        return [issued, end]
    }

    static func events(of verification: UserTraceRepository.Verification) -> [UserEvent] {
        var asked = UserEvent(
            at: verification.createdAt, .phone, of: verification.id, step: 1, "verification started")
        asked.deviceID = verification.deviceID
        guard let time = verification.verifiedAt else { return [asked] }
        var proven = UserEvent(at: time, .phone, of: verification.id, step: 2, "code accepted")
        proven.deviceID = verification.deviceID
        return [asked, proven]
    }

    static func events(of card: IdentityCardRepository.Entry) -> [UserEvent] {
        let shown = UserEvent(at: card.submittedAt, .card, of: card.id, step: 1, "card \(card.id) submitted")
        guard let time = card.decidedAt else { return [shown] }
        var decided = UserEvent(
            at: time, .card, of: card.id, step: 2, "card \(card.id) \(card.status.rawValue)")
        decided.actor = card.decidedBy
        return [shown, decided]
    }

    static func events(of ban: Ban) -> [UserEvent] {
        let end = ban.endsAt.map { "until \($0.rfc3339)" } ?? "without an end"
        var begun = UserEvent(
            at: ban.createdAt, .ban, of: ban.id, step: 1, "ban \(ban.id) of \(ban.scope.rawValue) \(end)")
        (begun.reason, begun.actor) = (ban.reason.rawValue, ban.actor)
        guard let lifted = ban.lifted else { return [begun] }
        var over = UserEvent(at: lifted.at, .ban, of: ban.id, step: 2, "ban \(ban.id) lifted")
        over.actor = lifted.actor
        return [begun, over]
    }

    /// - Parameter latest: the time that it must not exceed, so that the order of the log is the order of times.
    init(_ found: ReadAudit.Entry, notAfter latest: Date) {
        let entry = found.entry
        self.init(
            at: min(Date(milliseconds: entry.milliseconds), latest), .audit, id: "audit-\(entry.id)",
            [entry.event, entry.detail].compactMap(\.self).joined(separator: ": "))
        (reason, actor, sequence) = (entry.reason, entry.actor, found.place?.sequence)
    }
}
