import Domain
import Operations

/// Everything that is wrong with an identity token, for its developer.
enum TokenReportPage {
    private typealias Finding = (name: String, detail: String)

    /// - Parameter again: the form that checks another token.
    static func page(_ report: Service.IdentityTokenReport, of provider: Provider, again: Form) -> Page {
        var facts = Facts()
        facts.add("Verdict", report.defects.isEmpty ? "valid" : "not valid")
        facts.add("Its clock", report.clockSkew.map(clock))
        return Page(
            "Check of an identity token", above: ProviderListPage.above(provider),
            content: """
                \(facts.markup)
                \(table("Defects", none: "The token has no defect.").markup(
                    report.defects.map { ($0.reason.rawValue, $0.detail) }))
                \(table("Claims that are ignored", none: "No claim is ignored.").markup(
                    report.ignored.map { ($0.name, $0.detail) }))
                <h2>Check another token</h2>
                \(again.markup)
                """)
    }

    private static func table(_ caption: String, none: String) -> DataTable<Finding> {
        DataTable(caption, none: none, [.text("Name") { $0.name }, .text("In words") { $0.detail }])
    }

    private static func clock(_ skew: Int) -> String {
        guard skew != 0 else { return "agrees with this server's" }
        return "\(skew.magnitude) s \(skew > 0 ? "ahead of" : "behind") this server's"
    }
}
