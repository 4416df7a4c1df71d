import ArgumentParser
import Domain
import Encoding
import Operations

extension ProviderCommand {
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows a provider with its apps, keys, URLs, webhook and streams.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its slug or id.") var provider: String

        func run() async throws {
            let found = try await Admin.run(shared) { try await ReadProviders($0.context).detail(provider) }
            if shared.json { showJSON(found) } else { show(found) }
        }

        private func showJSON(_ found: ReadProviders.Detail) {
            let provider = found.provider
            Output.json(
                .object([
                    "provider_id": .string(provider.id.description), "slug": .string(provider.slug.text),
                    "name": .string(provider.name), "account": provider.account.map { .string($0) } ?? .null,
                    "token_alg": .string(provider.tokenAlgorithm.rawValue),
                    "avatar_hosts": .array(provider.avatarHosts.map { .string($0) }),
                    "created_at": .string(provider.createdAt.rfc3339),
                    "disabled_at": provider.disabledAt.map { .string($0.rfc3339) } ?? .null,
                    "apps": .array(
                        found.applications.map {
                            .object(["app_id": .string($0.id.description), "name": .string($0.name)])
                        }),
                    "keys": .array(found.keys.map(KeyCommand.json)),
                    "resources": .array(found.resources.map { .string($0.url.text) }),
                    "webhook": found.webhook.map { .string($0) } ?? .null,
                    "streams": .array(found.streams.map { .string($0.id.description) }),
                ]))
        }

        private func show(_ found: ReadProviders.Detail) {
            let provider = found.provider
            var rows: [[String]] = [
                ["provider", provider.id.description], ["slug", provider.slug.text], ["name", provider.name],
                ["account", provider.account ?? "-"], ["token_alg", provider.tokenAlgorithm.rawValue],
                ["avatar hosts", provider.avatarHosts.isEmpty ? "-" : provider.avatarHosts.joined(separator: ", ")],
                ["created", provider.createdAt.rfc3339],
                ["state", provider.disabledAt.map { "disabled at \($0.rfc3339)" } ?? "enabled"],
                ["webhook", found.webhook ?? "-"],
            ]
            for app in found.applications { rows.append(["app", "\(app.id) \(app.name)"]) }
            for key in found.keys { rows.append(["key", "\(key.id) \(key.algorithm), \(KeyCommand.state(key))"]) }
            for resource in found.resources { rows.append(["url", resource.url.text]) }
            for stream in found.streams { rows.append(["stream", stream.id.description]) }
            Output.table(rows)
        }
    }
}
