import Domain
import Operations

/// The search for users and what belongs to them: one field for each kind of name.
struct SearchPage: Sendable {
    /// What a search found. A search that was not finished has no result: its refusal is another page.
    enum Result: Sendable {
        /// No search was made yet.
        case none
        /// - Parameter sentence: what was searched for.
        case notFound(sentence: String)
        case users([UserSummary])
        case session(Session)
        case device(DeviceID, of: String)
    }

    let result: Result
    let role: AdminRole
    /// The form for personal data; `nil` for a role that may not use it.
    let personal: Form?

    static let path = PagePath("/search")

    /// The names of the values that this page is searched by.
    enum Field: String, CaseIterable, Sendable {
        case externalID = "external_id"
        case user
        case session
        case device
        case serial
        /// Limits a search by external id.
        case provider

        var name: StaticString {
            switch self {
            case .externalID: "external_id"
            case .user: "user"
            case .session: "session"
            case .device: "device"
            case .serial: "serial"
            case .provider: "provider"
            }
        }
    }
}

extension SearchPage {
    var page: Page {
        Page(
            "Search",
            content: """
                \(found)
                <div class="columns">
                \(forms.joined())
                </div>
                \(personalForm)
                """)
    }

    private var forms: [Markup] {
        let support: [Markup] = [
            Self.form(
                .externalID, "External id", hint: "The provider's own id of the user.",
                and: (.provider, "Provider", hint: "Its slug or id. Empty for all providers.")),
            Self.form(.user, "User", hint: "The id or its beginning, or provider/external id."),
            Self.form(.session, "Session", hint: "The id or its beginning."),
        ]
        guard role.includes(.manage) else { return support }
        return support + [
            Self.form(.device, "Device", hint: "The id or its beginning."),
            Self.form(.serial, "Certificate", hint: "The serial number or its beginning."),
        ]
    }

    private var personalForm: Markup {
        guard let personal else { return .empty }
        return """
            <h2>By personal data</h2>
            <p>The audit log records the search with your name, your role and the reason, but not what you search for.</p>
            \(personal.markup)
            """
    }

    private typealias Input = (field: Field, label: String, hint: String)

    private static func form(_ field: Field, _ label: String, hint: String, and second: Input? = nil) -> Markup {
        """
        <form method="get" action="\(path)" autocomplete="off">
        \(input((field, label, hint), isRequired: true))\(second.map { "\n\(input($0, isRequired: false))" } ?? .empty)
        <button type="submit">Search by \(label.lowercased())</button>
        </form>
        """
    }

    private static func input(_ input: Input, isRequired: Bool) -> Markup {
        let name = input.field.rawValue
        return """
            <p><label for="\(name)">\(input.label)</label>
            <span class="hint" id="\(name)-hint">\(input.hint)</span>
            <input type="text" id="\(name)" name="\(name)" aria-describedby="\(name)-hint"\
            \(isRequired ? " required" : .empty)></p>
            """
    }

    private var found: Markup {
        switch result {
        case .none: return .empty
        case .notFound(let sentence): return Self.section("<p>\(sentence)</p>")
        case .users(let users): return Self.section(Self.table.markup(users))
        case .session(let session):
            let user = Page.Link(session.externalID, Links.user(session.userID)).markup
            return Self.section(
                """
                <p>Session \(session.id.description) of the user \(user). \
                Opened at \(.time(session.createdAt)), last used at \(.time(session.lastUsedAt)).</p>
                """)
        case .device(let device, let sentence):
            let link = Page.Link("Device \(device)", Links.device(device)).markup
            return Self.section("<p>\(link): \(sentence)</p>")
        }
    }

    private static func section(_ content: Markup) -> Markup {
        "<section class=\"notice\" aria-label=\"Result\" role=\"status\">\n\(content)\n</section>"
    }

    private static var table: DataTable<UserSummary> {
        DataTable(
            "Users found", none: "No user was found.",
            [
                .link("User") { Links.user($0) }, .text("Id") { $0.user.id.description },
                .text("Level") { $0.user.assurance.rawValue }, .time("First seen") { $0.user.createdAt },
            ])
    }
}
