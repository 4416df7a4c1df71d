import Domain
import Encoding
import Foundation
import Operations

/// Providers with their keys and streams, and the check of an identity token.
enum ProviderPages {
    static let routes: [ConsoleRoute] = [
        .page("/providers", .manage, cost: .read, query: ["after"], list),
        .page("/providers/{}", .manage, cost: .read, show),
        .action("/providers/{}/token", .manage, cost: .read, subject: \.provider, checkToken),
        .page("/providers/{}/disable", .manage, cost: .read, confirmDisabling),
        .action("/providers/{}/disable", .manage, cost: .write, subject: \.provider, disable),
        .page("/providers/{}/enable", .manage, cost: .read, confirmEnabling),
        .action("/providers/{}/enable", .manage, cost: .write, subject: \.provider, enable),
    ]

    @Sendable private static func list(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let cursor = request.value("after")
        let providers = try await request.administration.listProviders(limit: ProviderListPage.limit + 1, after: cursor)
        return .page(ProviderListPage(providers: providers, cursor: cursor).page)
    }

    @Sendable private static func show(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let (detail, health) = try await request.administration.readProviderWithHealth(request.provider)
        let form = tokenForm(of: detail.provider, request)
        return .page(ProviderPage(detail: detail, health: health, tokenForm: form, now: request.now).page)
    }

    // MARK: Token doctor

    private static let token: StaticString = "identity_token"

    private static func tokenForm(of provider: Provider, _ request: ConsoleRequest) -> Form {
        request.form(
            to: ProviderListPage.path(of: provider, "token"), subject: provider.slug.text,
            [.note(name: token, label: "Identity token", hint: "It is checked, and neither used nor stored.")],
            submit: "Check the token")
    }

    @Sendable private static func checkToken(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        // The token is for a program: blanks and line ends came with its text.
        let text = try request.required(token, label: "Identity token").filter { !$0.isWhitespace }
        let provider = try await request.administration.readProvider(request.provider).provider
        let report = try await request.parts.service.checkIdentityToken(text, of: provider)
        return .page(TokenReportPage.page(report, of: provider, again: tokenForm(of: provider, request)))
    }

    // MARK: Disabling and enabling

    @Sendable private static func confirmDisabling(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let (provider, sessions) = try await request.administration.previewDisabling(request.provider)
        let form = request.form(
            to: ProviderListPage.path(of: provider, "disable"), subject: request.provider,
            [.reason] + (request.parts.service.policy[\.bans].fourEyesOver > 0 ? [.urgency] : []) + [.sure],
            submit: "Disable the provider", isDangerous: true)
        let more: Markup = sessions.isMore ? " or more" : .empty
        return .page(
            Confirmation(
                title: "Disable \(provider.name)", above: ProviderListPage.above(provider),
                effects: [
                    "Open sessions that end at once: \(sessions.count)\(more). They stay ended.",
                    "Its keys, tokens and streams are not valid until it is enabled again.",
                ], form: form
            ).page)
    }

    @Sendable private static func disable(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let reason = try request.reason()
        try request.requireSure()
        do {
            _ = try await request.administration.disableProvider(
                request.provider, reason: reason, urgency: request.urgency())
        } catch let refusal as Refusal where refusal.isWaiting {
            return .seeOther(ActList.path)
        }
        return .seeOther(ProviderListPage.path.appending(request.provider))
    }

    @Sendable private static func confirmEnabling(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let provider = try await request.administration.readProvider(request.provider).provider
        let form = request.form(
            to: ProviderListPage.path(of: provider, "enable"), subject: request.provider, [.reason],
            submit: "Enable the provider")
        return .page(
            Confirmation(
                title: "Enable \(provider.name)", above: ProviderListPage.above(provider),
                effects: ["Its keys and tokens are valid again. 0 sessions come back: users sign in again."], form: form
            ).page)
    }

    @Sendable private static func enable(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        try await request.administration.enableProvider(request.provider, reason: request.reason())
        return .seeOther(ProviderListPage.path.appending(request.provider))
    }
}

extension ConsoleRequest {
    /// The provider's slug in the path, as it was given.
    fileprivate var provider: String { segments.first ?? "" }
}
