import Domain
import Encoding
import Foundation
import Operations

/// The start page: what happens now, each figure with its limit, and charts of the last hour and day.
enum StartPage {
    static let routes: [ConsoleRoute] = [
        .page("/", .resolve, cost: .read, query: ["every"]) { request in
            let acts = request.administrator.role.includes(.manage) ? try await waiting(request) : nil
            let every = request.has("every", "30") ? 30 : nil
            return .page(page(view(request.parts, request.administrator, acts), at: request.now, every: every))
        }
    ]

    /// Everything that the page shows, as it was read.
    struct StartView: Sendable {
        let figures: (figures: ConsoleFigures, at: Date)?
        let hour: [FigureHistory.Slot]
        let day: [FigureHistory.Slot]
        let policy: Policy
        /// Administrators who looked at too many persons. Only the role security sees them.
        let refusedLooks: [(name: String, at: Date)]
        /// Acts that wait for a second administrator, or were urgent. Only the role security sees them.
        let acts: ActList?
    }

    private static func waiting(_ request: ConsoleRequest) async throws -> ActList {
        ActList(
            acts: try await request.administration.listWaitingActs(), administrator: request.administrator.id,
            now: request.now)
    }

    private static func view(
        _ parts: ConsoleParts, _ administrator: Administrator, _ acts: ActList?
    ) -> StartView {
        let (service, history) = (parts.service, parts.history)
        let now = service.environment.now()
        return StartView(
            figures: history.latest, hour: history.last(60, of: 1, until: now),
            day: history.last(96, of: 15, until: now), policy: service.policy[\.self],
            refusedLooks: administrator.role.includes(.manage) ? service.refusedLooks() : [], acts: acts)
    }

    /// - Parameter every: seconds after which the page loads itself again; `nil` for never. A page that is loaded while
    ///   somebody reads it loses their place, so it is loaded again only for administrators who asked for that.
    static func page(_ view: StartView, at now: Date, every: Int? = nil) -> Page {
        guard let (figures, at) = view.figures else {
            let sentence: Markup = "<p>The node has just started. The figures come in some seconds.</p>"
            let parts = [notices(view), sentence, reload(every)].filter { !$0.isEmpty }
            return Page("Now", refresh: every, content: parts.joined())
        }
        let parts: [Markup] = [
            notices(view),
            FigureTable.markup(figures, view.hour, view.policy, at: now),
            "<p>Read at \(at.rfc3339).</p>",
            reload(every),
            charts("The last hour", view.hour, columnsInRow: 5),
            charts("The last day", view.day, columnsInRow: 4),
            refusals(view),
        ].filter { !$0.isEmpty }
        return Page("Now", refresh: every, content: parts.joined())
    }

    private static func reload(_ every: Int?) -> Markup {
        let path = PagePath("/")
        let link =
            every == nil
            ? Page.Link("Load this page again every 30 s", path.adding("every", "30"))
            : Page.Link("Stop loading this page again every 30 s", path)
        return "<p>\(link.markup)</p>"
    }

    /// What the role security must see first.
    private static func notices(_ view: StartView) -> Markup {
        let acts = view.acts.flatMap { $0.acts.isEmpty ? nil : $0.table.markup($0.acts) } ?? .empty
        return [acts, looks(view.refusedLooks)].filter { !$0.isEmpty }.joined()
    }

    private static func looks(_ refused: [(name: String, at: Date)]) -> Markup {
        guard !refused.isEmpty else { return .empty }
        return DataTable<(name: String, at: Date)>(
            "Administrators who looked at too many persons", none: "",
            [.text("Administrator") { $0.name }, .text("Last refused at") { $0.at.rfc3339 }]
        ).markup(refused)
    }

    private static func charts(_ heading: String, _ slots: [FigureHistory.Slot], columnsInRow: Int) -> Markup {
        let kinds: [(title: String, unit: String, hasSum: Bool, value: (FigureHistory.Slot) -> Int)] = [
            ("Sign-ins", "sign-ins", true, { $0.signIns }), ("Refusals", "refusals", true, { $0.allRefusals }),
            ("Texts", "texts", true, { $0.texts }), ("Cards in review", "cards in review", false, { $0.review }),
        ]
        let charts = kinds.map { kind in
            BarChart(
                title: "\(kind.title), \(heading.lowercased())", unit: kind.unit, hasSum: kind.hasSum,
                columns: slots.map { (time(of: $0.minute), kind.value($0)) }, columnsInRow: columnsInRow
            ).markup
        }
        return """
            <h2>\(heading)</h2>
            <p>Counted by this node. Times are UTC.</p>
            <div class="charts">
            \(charts.joined())
            </div>
            """
    }

    private static func time(of minute: Int) -> String {
        let text = Date(timeIntervalSince1970: TimeInterval(minute) * 60).rfc3339
        return String(text.dropFirst(11).prefix(5))
    }

    /// The refusals by code and reason, most frequent first.
    private static func refusals(_ view: StartView) -> Markup {
        func sums(_ slots: [FigureHistory.Slot]) -> [String: Int] {
            slots.reduce(into: [:]) { $0.merge($1.refusals, uniquingKeysWith: +) }
        }
        let (hour, day) = (sums(view.hour), sums(view.day))
        let rows = day.map { (name: $0.key, hour: hour[$0.key] ?? 0, day: $0.value) }
            .sorted { ($1.day, $0.name) < ($0.day, $1.name) }
        return DataTable<(name: String, hour: Int, day: Int)>(
            "Refusals by reason", none: "Nothing was refused in the last day.",
            [
                .text("Code and reason") { $0.name }, .init("Last hour") { "\($0.hour)" },
                .init("Last day") { "\($0.day)" },
            ]
        ).markup(Array(rows.prefix(30)))
    }
}
