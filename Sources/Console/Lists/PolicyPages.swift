import Domain
import Operations

/// The policies in force, read only.
enum PolicyPages {
    static let routes: [ConsoleRoute] = [
        .page("/policies", .audit, cost: .read, query: ["file"]) {
            .page(page($0.parts.policies(), file: $0.value("file")))
        }
    ]

    private static let path = PagePath("/policies")

    /// - Parameter file: the only file to show; `nil` for all.
    static func page(_ rows: [ConsoleParts.PolicyRow], file: String?) -> Page {
        var files: [String] = []
        for row in rows where !files.contains(row.file) { files.append(row.file) }
        let links = [Page.Link("All", path)] + files.map { Page.Link($0, path.adding("file", $0)) }
        let shown = file.map { file in rows.filter { $0.file.utf8.elementsEqual(file.utf8) } } ?? rows
        return Page(
            "Policies",
            content: """
                <p>Values are changed in the files of this node, and read again on SIGHUP.</p>
                <nav aria-label="Files">
                \(Markup.list(links.map(\.markup)))
                </nav>
                \(table.markup(shown))
                """)
    }

    private static let table = DataTable<ConsoleParts.PolicyRow>(
        "Values in force", none: "There is no such file.",
        [
            .text("Key") { $0.key }, .text("Value") { $0.value }, .text("Default") { $0.standard },
            .text("Set by") { row in row.line.map { "\(row.file), line \($0)" } ?? "the default" },
        ])
}
