import Domain
import Encoding
import Foundation
import Operations

/// The values of a new ban, as its form has them. The page that confirms it sends them again, unseen.
struct BanForm: Sendable {
    let kind: Ban.SubjectKind
    /// The subject as it was typed in.
    let subject: String
    let scope: Ban.Scope
    let reason: Ban.Reason
    let note: String?
    let duration: Duration
    /// The end in UTC, for `Duration/until`.
    let until: String?
    let withDevices: Bool
    let replaces: Bool

    enum Duration: String, CaseIterable, Sendable {
        case permanent
        case day = "1d"
        case week = "7d"
        case month = "30d"
        case quarter = "90d"
        case year = "365d"
        case until

        var label: String {
            switch self {
            case .permanent: "Permanent"
            case .day: "1 day"
            case .week: "7 days"
            case .month: "30 days"
            case .quarter: "90 days"
            case .year: "365 days"
            case .until: "Until the day below"
            }
        }

        fileprivate var days: Double? {
            switch self {
            case .permanent, .until: nil
            case .day: 1
            case .week: 7
            case .month: 30
            case .quarter: 90
            case .year: 365
            }
        }
    }

}

extension BanForm {
    /// Reads the values of a form.
    ///
    /// - Throws: `Refusal` `malformed_request`.
    init(_ request: ConsoleRequest) throws(Refusal) {
        kind = try request.choice("kind", label: "Kind")
        subject = try request.required("subject", label: "Subject")
        scope = try request.choice("scope", label: "Scope")
        guard let reason = Ban.Reason(rawValue: try request.required("reason", label: "Reason").lowercased()) else {
            throw Refusal.banReasonUnreadable
        }
        self.reason = reason
        note = request.lines("note")
        duration = try request.choice("duration", label: "Duration")
        until = request.value("until")
        withDevices = request.has("with_devices", "yes")
        replaces = request.has("replace", "yes")
    }

    /// What a token of the confirming form is bound to: the subject whose numbers the page showed.
    static func subject(of request: ConsoleRequest) -> String {
        "\(request.value("kind") ?? "") \(request.value("subject") ?? "")"
    }

    /// What a look by a subject is counted under.
    static func lookName(_ kind: Ban.SubjectKind, _ subject: String) -> Digest256 {
        Digest256.of("\(kind.rawValue) \(subject)")
    }

    /// The user that a subject names by the id; empty for another subject.
    static func user(_ kind: Ban.SubjectKind, _ subject: String) -> [UserID] {
        kind == .user ? [UserID(subject[...])].compactMap(\.self) : []
    }

    /// The ban that the values request.
    ///
    /// - Throws: `Refusal` `malformed_request`.
    func order(at now: Date) throws(Refusal) -> BanOrder {
        try BanOrder(
            target: Self.target(kind, subject), scope: scope, reason: reason, note: note, endsAt: end(at: now),
            withDevices: withDevices, replaces: replaces)
    }

    /// - Throws: `Refusal` `malformed_request`, without any part of a number.
    static func target(_ kind: Ban.SubjectKind, _ subject: String) throws(Refusal) -> BanTarget {
        switch kind {
        case .user: return .user(subject)
        case .phone: return try .phone(reading: subject)
        case .document: return try .document(reading: subject)
        case .device:
            guard let id = DeviceID(subject) else { throw Refusal.notAnID("device") }
            return .device(id)
        }
    }

    private func end(at now: Date) throws(Refusal) -> Date? {
        if let days = duration.days { return now.addingTimeInterval(days * 86_400) }
        guard duration == .until else { return nil }
        guard let start = until.flatMap({ CalendarDate($0) })?.start, start > now else {
            throw Refusal.fieldUnreadable("Day of the end")
        }
        return start
    }

    /// The values again, for the form that confirms them.
    var hidden: [Form.Field] {
        var fields: [Form.Field] = [
            .hidden(name: "kind", value: kind.rawValue), .hidden(name: "subject", value: subject),
            .hidden(name: "scope", value: scope.rawValue), .hidden(name: "reason", value: reason.rawValue),
            .hidden(name: "duration", value: duration.rawValue),
        ]
        if let note { fields.append(.hidden(name: "note", value: note)) }
        if let until { fields.append(.hidden(name: "until", value: until)) }
        if withDevices { fields.append(.hidden(name: "with_devices", value: "yes")) }
        if replaces { fields.append(.hidden(name: "replace", value: "yes")) }
        return fields
    }

    /// The inputs of a new ban.
    ///
    /// - Parameters:
    ///   - kind: the kind that is chosen at first.
    ///   - subject: the subject that is filled in.
    static func fields(kind: String?, subject: String) -> [Form.Field] {
        [
            .choice(
                name: "kind", label: "Kind", options: Ban.SubjectKind.allCases.map { ($0.rawValue, $0.words) },
                chosen: kind),
            .text(
                name: "subject", label: "Subject",
                hint: "A user's id or provider/external id, a number, ISSUER:NUMBER, or a device's id.",
                value: subject, isRequired: true),
            .choice(
                name: "scope", label: "Scope", options: Ban.Scope.allCases.map { ($0.rawValue, $0.words) },
                chosen: Ban.Scope.all.rawValue),
            .text(
                name: "reason", label: "Reason", hint: "One word, such as spam. The banned user sees it.", value: "",
                isRequired: true),
            .note(name: "note", label: "Finding", hint: "It is kept sealed and shown only to administrators."),
            .choice(
                name: "duration", label: "Duration", options: Duration.allCases.map { ($0.rawValue, $0.label) },
                chosen: Duration.month.rawValue),
            .text(
                name: "until", label: "Day of the end", hint: "Such as 2027-01-31, for its beginning in UTC.",
                value: "", isRequired: false),
            .checkbox(name: "with_devices", label: "Ban the user's devices too, which other people may share."),
            .checkbox(name: "replace", label: "Replace active bans on this subject that are at least as strict."),
        ]
    }
}

extension ConsoleRequest {
    /// The value of a choice.
    ///
    /// - Throws: `Refusal` `malformed_request` for a value that the form does not offer.
    func choice<Choice: RawRepresentable<String>>(
        _ name: StaticString, label: String
    ) throws(Refusal) -> Choice {
        guard let choice = Choice(rawValue: try required(name, label: label)) else {
            throw Refusal.fieldUnreadable(label)
        }
        return choice
    }
}
