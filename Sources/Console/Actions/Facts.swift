import Encoding
import Foundation

/// What a page shows of one object: names with their values.
struct Facts: Sendable {
    private var lines: [Markup] = []

    /// - Parameter text: `nil` or an empty text is shown as a dash.
    mutating func add(_ name: String, _ text: String?) {
        append(name, text.flatMap { $0.isEmpty ? nil : "<bdi>\($0)</bdi>" } ?? "–")
    }

    mutating func add(_ name: String, _ number: Int) { append(name, "\(number)") }

    /// - Parameter none: the text in place of a time that there is not.
    mutating func add(_ name: String, _ time: Date?, none: String = "–") {
        append(name, time.map { .time($0) } ?? Markup(none))
    }

    mutating func add(_ name: String, _ value: Markup) { append(name, value) }

    /// Not named `add`: a literal that is passed on to an overload is a text again, and the overload would call itself.
    private mutating func append(_ name: String, _ value: Markup) { lines.append("<dt>\(name)</dt><dd>\(value)</dd>") }

    var markup: Markup { "<dl class=\"facts\">\n\(lines.joined())\n</dl>" }
}

extension Markup {
    /// A time as RFC 3339 in UTC, which a browser can read too.
    static func time(_ time: Date) -> Markup {
        let text = time.rfc3339
        return "<time datetime=\"\(text)\">\(text)</time>"
    }

    /// The end of a ban in words.
    static func end(_ time: Date?) -> Markup { time.map { "until \(.time($0))" } ?? "permanent" }

    /// Sentences or links, one a line.
    static func list(_ items: [Markup]) -> Markup {
        items.isEmpty ? .empty : "<ul>\n\(items.map { item -> Markup in "<li>\(item)</li>" }.joined())\n</ul>"
    }
}

extension DataTable.Column {
    /// A column of times in UTC.
    ///
    /// - Parameter none: the text in place of a time that there is not.
    static func time(
        _ heading: String, none: String = "–", _ time: @escaping @Sendable (Row) -> Date?
    ) -> DataTable.Column {
        DataTable.Column(heading) { row in time(row).map { .time($0) } ?? Markup(none) }
    }

    /// A column of links to other pages; a dash where there is none.
    static func link(_ heading: String, _ link: @escaping @Sendable (Row) -> Page.Link?) -> DataTable.Column {
        DataTable.Column(heading) { row in link(row)?.markup ?? "–" }
    }
}
