import Domain

/// The page before an action: what will happen, in numbers, and the form that starts it.
struct Confirmation: Sendable {
    let title: String
    let above: [Page.Link]
    /// What will happen, a sentence each.
    let effects: [Markup]
    /// Lists of what is affected; empty if there are none.
    var details: Markup = .empty
    let form: Form

    var page: Page {
        Page(
            title, above: above,
            content: """
                <h2>This will happen</h2>
                \(Markup.list(effects))
                \(details)
                \(form.markup)
                """)
    }
}

extension Markup {
    /// A number of rows that a store counted up to `BoundedCount/most`.
    static func bounded(_ found: Int, _ noun: String) -> Markup {
        found > BoundedCount.most ? "\(BoundedCount.text(found)) \(noun)s" : count(found, noun)
    }

    /// A number with its noun.
    static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> Markup {
        "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
    }
}
