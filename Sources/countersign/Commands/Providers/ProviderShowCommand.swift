import ArgumentParser
import Domain
import Encoding
import Operations

extension ProviderCommand {
    struct Show: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a provider with its apps, keys, URLs, webhook and streams.",
            example: "provider show acme")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String

        func report(_ admin: Admin) async throws -> Report {
            let found = try await admin.administration.readProvider(provider)
            let provider = found.provider
            let state = provider.disabledAt.map { "disabled at \($0.rfc3339)" } ?? "enabled"
            var entries: [Entry] = [
                Entry("provider_id", "provider", provider.id), Entry("slug", provider.slug.text),
                Entry("name", provider.name), Entry("account", provider.account),
                Entry("token_alg", "token_alg", provider.tokenAlgorithm.rawValue),
                Entry("avatar_hosts", provider.avatarHosts), Entry("created_at", "created", provider.createdAt),
                .people("state", state), .json("disabled_at", provider.disabledAt),
                .json("apps", Report(found.applications, AppCommand.fields)),
                .json("keys", Report(found.keys, KeyCommand.fields)),
                .json("resources", found.resources.map(\.url.text)), Entry("webhook", found.webhook),
                .json("streams", found.streams.map(\.id)),
            ]
            entries += found.applications.map { .people("app", "\($0.id) \($0.name)") }
            entries += found.keys.map { .people("key", "\($0.id) \($0.algorithm), \(KeyCommand.state($0))") }
            entries += found.resources.map { .people("url", $0.url.text) }
            entries += found.streams.map { .people("stream", $0.id) }
            return Report(entries)
        }
    }
}
