import Domain
import Encoding
import Foundation

/// All providers, ordered by slug, in pages.
struct ProviderListPage: Sendable {
    /// The providers of this page, and one more if others follow.
    let providers: [Provider]
    let cursor: String?

    static let limit = 50
    static let path = PagePath("/providers")

    static func path(of provider: Provider, _ action: String) -> PagePath {
        path.appending(provider.slug.text).appending(action)
    }

    /// The pages above one of a provider.
    static func above(_ provider: Provider) -> [Page.Link] {
        [Page.Link("Providers", path), Page.Link(provider.name, path.appending(provider.slug.text))]
    }
}

extension ProviderListPage {
    var page: Page {
        let (shown, next) = Pager.page(providers, limit: Self.limit) { $0.slug.text }
        return Page(
            "Providers",
            content: """
                \(Self.table.markup(shown))
                \(Pager(Self.path, cursor: cursor, next: next).markup)
                """)
    }

    private static let table = DataTable<Provider>(
        "Providers by slug", none: "There is no provider.",
        [
            .link("Provider") { Page.Link($0.slug.text, path.appending($0.slug.text)) },
            .text("Name") { $0.name }, .text("Developer") { $0.account },
            .text("State") { $0.disabledAt == nil ? "enabled" : "disabled" },
            .text("Signs users in by") { $0.issuer.map { "ID tokens of \($0.url)" } ?? "identity tokens of its own" },
            .time("Created") { $0.createdAt },
        ])
}
