import Domain

extension Form.Field {
    /// The input for the reason that every action has.
    static let reason = Form.Field.text(
        name: "reason", label: "Reason",
        hint: "A code or a ticket's number, such as user_request or ticket:4711. The audit log keeps it.", value: "",
        isRequired: true)

    /// The input for the reason why an act does not wait for a second administrator.
    static let urgency = Form.Field.text(
        name: "urgency", label: "Urgent because",
        hint: "Empty if it can wait for a second administrator. Otherwise a code or a ticket's number.", value: "",
        isRequired: false)

    /// The box without which an action that cannot be undone does nothing.
    static let sure = Form.Field.checkbox(name: "sure", label: "I have read what will happen. It cannot be undone.")
}

extension ConsoleRequest {
    /// The reason of an action, from `Form/Field/reason`.
    ///
    /// - Throws: `Refusal` `malformed_request`.
    func reason() throws(Refusal) -> AuditReason {
        guard let reason = value("reason").flatMap({ AuditReason($0) }) else { throw Refusal.reasonUnreadable }
        return reason
    }

    /// Why an act does not wait for a second administrator, from `Form/Field/urgency`; `nil` if it can wait.
    ///
    /// - Throws: `Refusal` `malformed_request`.
    func urgency() throws(Refusal) -> AuditReason? {
        guard let text = value("urgency") else { return nil }
        guard let reason = AuditReason(text) else { throw Refusal.reasonUnreadable }
        return reason
    }

    /// Refuses an action whose box `Form/Field/sure` is not checked.
    ///
    /// - Throws: `Refusal` `malformed_request`.
    func requireSure() throws(Refusal) {
        guard has("sure", "yes") else { throw Refusal.notSure }
    }

    /// Whether a value is exactly a text.
    func has(_ name: StaticString, _ text: StaticString) -> Bool {
        value(name)?.utf8.elementsEqual(text.description.utf8) ?? false
    }

    /// A value that must not be empty.
    ///
    /// - Throws: `Refusal` `malformed_request`.
    func required(_ name: StaticString, label: String) throws(Refusal) -> String {
        guard let value = value(name) else { throw Refusal.fieldMissing(label) }
        return value
    }

    /// A value of several lines. A browser sends each end of a line as CR LF, and a note must not contain CR.
    func lines(_ name: StaticString) -> String? { value(name)?.replacing("\r\n", with: "\n") }

    /// The value of the path's first placeholder; empty if there is none. No object has an empty name.
    var name: String { segments.first ?? "" }

    /// An id as an administrator typed it, whole or as its beginning.
    ///
    /// - Throws: `Refusal` `malformed_request`.
    static func typed<Kind>(_ text: String, _ noun: String) throws(Refusal) -> TypedID<Kind> {
        let typed = TypedID<Kind>(text)
        guard typed.range != nil else { throw Refusal.notAnID(noun) }
        return typed
    }

    /// The number of users that an administrator agreed to affect. A change of more users is refused.
    ///
    /// - Throws: `Refusal` `malformed_request` if the number had to be typed in and differs.
    func agreedUsers() throws(Refusal) -> Int {
        guard let users = value(AgreedUsers.shown).flatMap({ Int($0) }), users >= 0 else {
            throw Refusal.fieldUnreadable("users")
        }
        guard users <= AgreedUsers.most || value(AgreedUsers.typed).flatMap({ Int($0) }) == users else {
            throw Refusal.numberNotTyped(users)
        }
        return users
    }
}

/// The number of users that an action affects, in the form that confirms it.
enum AgreedUsers {
    /// A larger number must be typed in.
    static let most = 20

    fileprivate static let shown: StaticString = "users"
    fileprivate static let typed: StaticString = "users_typed"

    /// - Parameter users: the number that the page shows.
    static func fields(_ users: Int) -> [Form.Field] {
        let shown = Form.Field.hidden(name: Self.shown, value: String(users))
        guard users > most else { return [shown] }
        return [
            shown,
            .text(
                name: typed, label: "Number of users affected", hint: "Type in \(users) to confirm.", value: "",
                isRequired: true),
        ]
    }
}

extension Refusal {
    /// Whether the act waits for a second administrator now.
    var isWaiting: Bool { code == .conflict && state == "waiting" }
}
