/// A page of the console, without scripts and without anything from another host.
struct Page: Sendable {
    /// A link with its text.
    struct Link: Sendable {
        let text: String
        let path: PagePath

        init(_ text: String, _ path: PagePath) {
            (self.text, self.path) = (text, path)
        }

        var markup: Markup { "<a href=\"\(path)\"><bdi>\(text)</bdi></a>" }
    }

    /// What all pages of a request have in common.
    struct Frame: Sendable {
        /// `nil` if the certificate is not a valid one of an administrator.
        let administrator: String?
        let role: String?
        let node: String
        let requestID: String
        /// The age of the node's view of the store, in tenths of a second.
        let staleness: Int
        /// The pages that the role permits.
        let navigation: [Link]
    }

    let title: String
    /// The pages above this one, from the start page on.
    let above: [Link]
    let content: Markup
    /// Seconds until the browser loads the page again; `nil` for never.
    let refresh: Int?

    init(_ title: String, above: [Link] = [], refresh: Int? = nil, content: Markup) {
        self.title = title
        self.above = above
        self.refresh = refresh
        self.content = content
    }
}

extension Page {
    /// The whole document, as a browser gets it.
    func document(in frame: Frame) -> Markup {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">\(refreshing)
        <title>\(title) – Countersign</title>
        <link rel="stylesheet" href="/console.css">
        </head>
        <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header>
        <p>\(Self.name(in: frame))Node \(frame.node). \
        View of the store \(frame.staleness / 10).\(frame.staleness % 10) s old.</p>
        \(Self.navigation(in: frame))
        </header>\(trail)
        <main id="content" tabindex="-1">
        <h1><bdi>\(title)</bdi></h1>
        \(content)
        </main>
        <footer><p>Request \(frame.requestID)</p></footer>
        </body>
        </html>

        """
    }

    private static func name(in frame: Frame) -> Markup {
        guard let name = frame.administrator, let role = frame.role else { return .empty }
        return "<bdi>\(name)</bdi>, \(role). "
    }

    private static func navigation(in frame: Frame) -> Markup {
        guard !frame.navigation.isEmpty else { return .empty }
        return """
            <nav aria-label="Pages">
            <ul>
            \(frame.navigation.map { link -> Markup in "<li>\(link.markup)</li>" }.joined())
            </ul>
            </nav>
            """
    }

    private var refreshing: Markup {
        refresh.map { "\n<meta http-equiv=\"refresh\" content=\"\($0)\">" } ?? .empty
    }

    private var trail: Markup {
        guard !above.isEmpty else { return .empty }
        return """

            <nav aria-label="Breadcrumb">
            <ol>
            \(above.map { link -> Markup in "<li>\(link.markup)</li>" }.joined())
            <li aria-current="page"><bdi>\(title)</bdi></li>
            </ol>
            </nav>
            """
    }
}
