/// The links below a list: to its start, and to the rows after those shown. There are no page numbers, because the
/// rows are not counted.
struct Pager: Sendable {
    private let path: PagePath
    private let isFirst: Bool
    private let next: String?

    /// - Parameters:
    ///   - path: the list's path with its filters, without a cursor.
    ///   - cursor: the cursor of this page; `nil` for the first one.
    ///   - next: the key of the last row shown; `nil` if no rows follow.
    init(_ path: PagePath, cursor: String?, next: String?) {
        self.path = path
        isFirst = cursor == nil
        self.next = next
    }

    /// The rows to show of those that were read, one more than a page has, and the cursor of the next page.
    static func page<Row>(_ rows: [Row], limit: Int, key: (Row) -> String) -> (rows: [Row], next: String?) {
        let shown = Array(rows.prefix(limit))
        return (shown, rows.count > limit ? shown.last.map(key) : nil)
    }

    var markup: Markup {
        let links: [Markup] = [
            isFirst ? .empty : "<li><a href=\"\(path)\">First page</a></li>",
            next.map { "<li><a rel=\"next\" href=\"\(path.adding("after", $0))\">Next page</a></li>" } ?? .empty,
        ].filter { !$0.isEmpty }
        guard !links.isEmpty else { return .empty }
        return "<nav aria-label=\"Parts of the list\">\n<ul>\n\(links.joined())\n</ul>\n</nav>"
    }
}
