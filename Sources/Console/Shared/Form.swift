/// A form whose submission is an action. The browser sends it with its token, and with an id by which a second
/// submission is recognized.
struct Form: Sendable {
    /// An input with its label.
    enum Field: Sendable {
        /// An input for one line of text.
        case text(name: StaticString, label: String, hint: String?, value: String, isRequired: Bool)
        /// An input for several lines of text.
        case note(name: StaticString, label: String, hint: String?)
        case choice(name: StaticString, label: String, options: [(value: String, label: String)], chosen: String?)
        case checkbox(name: StaticString, label: String)
        /// A value that the page gives.
        case hidden(name: StaticString, value: String)
    }

    let action: PagePath
    let token: String
    let operationID: String
    let fields: [Field]
    /// The text of its button.
    let submit: String
    let isDangerous: Bool

    /// - Parameters:
    ///   - token: the text of a ``FormToken`` for the path.
    ///   - operationID: a new random id.
    ///   - isDangerous: whether the action takes something away; its button then looks different.
    init(
        to action: PagePath, token: String, operationID: String, _ fields: [Field], submit: String,
        isDangerous: Bool = false
    ) {
        self.action = action
        self.token = token
        self.operationID = operationID
        self.fields = fields
        self.submit = submit
        self.isDangerous = isDangerous
    }

    /// The names of the members that every form has.
    enum Member {
        static let token = "form_token"
        static let operationID = "operation_id"
    }
}

extension Form {
    var markup: Markup {
        """
        <form method="post" action="\(action)" accept-charset="utf-8" autocomplete="off">
        <input type="hidden" name="\(Member.token)" value="\(token)">
        <input type="hidden" name="\(Member.operationID)" value="\(operationID)">
        \(fields.map(\.markup).joined())
        <button type="submit" class="\(isDangerous ? "dangerous" : "usual")">\(submit)</button>
        </form>
        """
    }
}

extension Form.Field {
    fileprivate var markup: Markup {
        switch self {
        case .text(let name, let label, let hint, let value, let isRequired):
            let name = name.description
            return """
                <p><label for="\(name)">\(label)</label>\(Self.hint(hint, of: name))
                <input type="text" id="\(name)" name="\(name)" value="\(value)"\
                \(Self.described(hint, by: name))\(isRequired ? " required" : .empty)></p>
                """
        case .note(let name, let label, let hint):
            let name = name.description
            return """
                <p><label for="\(name)">\(label)</label>\(Self.hint(hint, of: name))
                <textarea id="\(name)" name="\(name)" rows="4"\(Self.described(hint, by: name))></textarea></p>
                """
        case .choice(let name, let label, let options, let chosen):
            let name = name.description
            let items = options.map { option -> Markup in
                let isChosen = chosen.map { $0.utf8.elementsEqual(option.value.utf8) } ?? false
                return "<option value=\"\(option.value)\"\(isChosen ? " selected" : .empty)>\(option.label)</option>"
            }
            return """
                <p><label for="\(name)">\(label)</label>
                <select id="\(name)" name="\(name)">
                \(items.joined())
                </select></p>
                """
        case .checkbox(let name, let label):
            let name = name.description
            return """
                <p><input type="checkbox" id="\(name)" name="\(name)" value="yes">
                <label for="\(name)">\(label)</label></p>
                """
        case .hidden(let name, let value):
            return "<input type=\"hidden\" name=\"\(name.description)\" value=\"\(value)\">"
        }
    }

    private static func hint(_ hint: String?, of name: String) -> Markup {
        hint.map { "\n<span class=\"hint\" id=\"\(name)-hint\">\($0)</span>" } ?? .empty
    }

    private static func described(_ hint: String?, by name: String) -> Markup {
        hint == nil ? .empty : " aria-describedby=\"\(name)-hint\""
    }
}
