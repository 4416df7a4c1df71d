import Domain
import Encoding
import Foundation
import Operations

/// A provider with its keys and their origin, the delivery of its streams, and the age of its issuer's keys.
struct ProviderPage: Sendable {
    let detail: Administration.ProviderDetail
    let health: Administration.ProviderHealth
    /// The form that checks an identity token.
    let tokenForm: Form
    let now: Date
}

extension ProviderPage {
    var page: Page {
        Page(
            detail.provider.name, above: [Page.Link("Providers", ProviderListPage.path)],
            content: """
                \(facts.markup)
                <p>\(change.markup)</p>
                \(keys.markup(detail.keys))
                \(streams.markup(detail.streams))
                \(apps.markup(detail.applications))
                \(resources.markup(detail.resources))
                <h2>Check an identity token</h2>
                \(tokenForm.markup)
                """)
    }

    private var change: Page.Link {
        let act = detail.provider.disabledAt == nil ? "disable" : "enable"
        let words = act.prefix(1).uppercased() + act.dropFirst()
        return Page.Link("\(words) \(detail.provider.name)", ProviderListPage.path(of: detail.provider, act))
    }

    private var facts: Facts {
        let provider = detail.provider
        var facts = Facts()
        facts.add("Provider", provider.id.description)
        facts.add("Slug", provider.slug.text)
        facts.add("Developer", provider.account)
        facts.add("State", provider.disabledAt == nil ? "enabled" : "disabled")
        if let disabledAt = provider.disabledAt { facts.add("Disabled", .ago(disabledAt, at: now)) }
        facts.add("Created", provider.createdAt)
        facts.add("Algorithm of access tokens", provider.tokenAlgorithm.rawValue)
        facts.add("Hosts of pictures", provider.avatarHosts.joined(separator: " "))
        facts.add("Webhook", detail.webhook)
        if let issuer = provider.issuer {
            facts.add("Issuer", issuer.url)
            facts.add("Key set of the issuer", keySet)
        }
        return facts
    }

    /// How old the issuer's key set is, and why it is.
    private var keySet: Markup {
        guard let reading = health.issuer else { return "never fetched" }
        let failure: Markup = reading.failure.map { "; the last attempt failed: \($0)" } ?? .empty
        let use: Markup = reading.mayServe(at: now) ? .empty : "; it has expired"
        let (read, attempted) = (Markup.ago(reading.readAt, at: now), Markup.ago(reading.attemptedAt, at: now))
        return "fetched \(read), last tried \(attempted)\(failure)\(use)"
    }

    private var keys: DataTable<ProviderKeyRecord> {
        DataTable(
            "Keys", none: "The provider has no key.",
            [
                .text("Key") { $0.id.description },
                .text("Algorithm") { $0.algorithm },
                .text("Added by") { $0.adder },
                .init("Added") { [now] in .ago($0.createdAt, at: now) },
                .init("State") { [now] in $0.state(at: now) },
            ])
    }

    private var streams: DataTable<EventStream> {
        let deliveries = health.deliveries
        return DataTable(
            "Streams of security events", none: "The provider has no stream.",
            [
                .text("Stream") { $0.id.short },
                .text("Delivery") { $0.address ?? "polled by the receiver" },
                .text("Status") { stream in
                    let (status, reason) = stream.present
                    return [status.rawValue, reason].compactMap(\.self).joined(separator: ": ")
                },
                .time("Receiver was active", none: "not recorded") { $0.activeAt },
                .init("Next event waits since") { [now, deliveries] stream in
                    let since = deliveries.first { $0.stream == stream.id }?.waitingSince
                    return since.map { .ago($0, at: now) } ?? "no event waits"
                },
                .text("Last error") { [deliveries] stream in
                    deliveries.first { $0.stream == stream.id }.flatMap {
                        Self.error($0.reason, failures: $0.failures, pausedUntil: $0.pausedUntil)
                    }
                },
            ])
    }

    /// The last error of a stream, and what follows from it.
    private static func error(_ reason: String?, failures: Int, pausedUntil: Date?) -> String? {
        let parts = [
            reason, failures > 0 ? "\(failures) failures in a row" : nil,
            pausedUntil.map { "paused until \($0.rfc3339)" },
        ].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    private var apps: DataTable<Application> {
        DataTable(
            "Apps", none: "The provider has no app.",
            [.text("App") { $0.id.description }, .text("Name") { $0.name }])
    }

    private var resources: DataTable<ProviderResource> {
        DataTable("URLs of its backend", none: "The provider has no URL.", [.text("URL") { $0.url.text }])
    }
}

extension EventStream {
    /// The push address; `nil` for a polled stream.
    fileprivate var address: String? {
        if case .push(let url) = settings.delivery { url } else { nil }
    }
}

extension ProviderKeyRecord {
    fileprivate var adder: String {
        switch origin {
        case .admin: "an operator"
        case .provider: addedBy.map { "key \($0)" } ?? "the provider"
        case .issuer: "the key set of the issuer"
        }
    }

    fileprivate func state(at now: Date) -> Markup {
        if let revokedAt { return "revoked \(Markup.ago(revokedAt, at: now))" }
        return retiredAt.map { "retired \(Markup.ago($0, at: now))" } ?? "active"
    }
}
