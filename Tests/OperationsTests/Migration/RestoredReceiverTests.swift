import Database
import Domain
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

/// A backup, then what a provider removes, then the backup in the store's place.
@Suite("Where providers hear of their users, across a restore")
struct RestoredReceiverTests {
    private static func stream(_ provider: ProviderID, _ url: String?, at time: Date) -> EventStream {
        EventStream(
            id: EventStreamID(UUID()), provider: provider,
            settings: EventStream.Settings(delivery: url.map { .push($0) } ?? .poll), createdAt: time)
    }

    @Test("stays as it was: what was removed or given another address does not come back, and is named; the rest does")
    func replay() async throws {
        try await MessageBench.run(on: .sqlite) { bench in
            let (store, now) = (bench.context.store, bench.people.clock.now)
            let provider = try await bench.people.person("ann").providerID
            let kept = try #require(ResourceURL("https://kept.example"))
            let removed = try #require(ResourceURL("https://removed.example"))
            let streams = (0..<4).map { _ in Self.stream(provider, "https://events.example/1", at: now) }
            try await store.write { transaction in
                try ProviderWebhookRepository(transaction).set("https://old.example", of: provider)
                for url in [kept, removed] {
                    _ = try ProviderResourceRepository(transaction).insert(
                        ProviderResource(url: url, providerID: provider), at: now)
                }
                for stream in streams { try EventStreamRepository(transaction).save(stream) }
            }
            try await bench.restored {
                try await store.write { transaction in
                    try ProviderWebhookRepository(transaction).set("https://new.example", of: provider)
                    try ProviderResourceRepository(transaction).remove(removed)
                    let records = EventStreamRepository(transaction)
                    try records.remove(streams[0].id)
                    _ = try records.disable(streams[1].id, because: "test")
                    var moved = streams[2]
                    moved.settings.delivery = .push("https://events.example/2")
                    try records.save(moved)
                }
            } then: { restored, report in
                try await restored.read { transaction in
                    #expect(try ProviderWebhookRepository(transaction).find(provider) == "https://new.example")
                    #expect(try ProviderResourceRepository(transaction).list(of: provider).map(\.url) == [kept])
                    let records = EventStreamRepository(transaction)
                    let states = try streams.map { try records.find($0.id)?.status }
                    #expect(states == [nil, .disabled, .disabled, .enabled])
                }
                #expect(report.receivers.count == 5, "\(report.receivers)")
                for what in ["https://old.example", "https://removed.example", streams[0].id.description] {
                    #expect(report.receivers.contains { $0.contains(what) }, "\(what)")
                }
            }
        }
    }

    @Test("goes with a webhook that was removed, and nothing is named where nothing changed")
    func removed() async throws {
        try await MessageBench.run(on: .sqlite) { bench in
            let store = bench.context.store
            let provider = try await bench.people.person("ann").providerID
            try await store.write {
                try ProviderWebhookRepository($0).set("https://old.example", of: provider)
            }
            try await bench.restored {
            } then: { restored, report in
                let webhook = try await restored.read { try ProviderWebhookRepository($0).find(provider) }
                #expect(webhook != nil)
                #expect(report.receivers.isEmpty)
            }
            try await bench.restored {
                try await store.write { try ProviderWebhookRepository($0).remove(provider) }
            } then: { restored, report in
                let webhook = try await restored.read { try ProviderWebhookRepository($0).find(provider) }
                #expect(webhook == nil)
                #expect(report.receivers.count == 1)
            }
        }
    }

    @Test("Client ids of an issuer that were removed do not come back, and a provider without others gets the new")
    func clients() async throws {
        try await MessageBench.run(on: .sqlite) { bench in
            let (store, now) = (bench.context.store, bench.people.clock.now)
            func provider(_ slug: String, _ audiences: [String], _ parties: [String] = []) throws -> Provider {
                Provider(
                    id: ProviderID(UUID()), slug: try #require(Slug(slug)), name: slug, account: nil, avatarHosts: [],
                    createdAt: now, disabledAt: nil,
                    issuer: ProviderIssuer(
                        url: "https://idp.example", audience: audiences[0],
                        otherAudiences: Array(audiences.dropFirst()), parties: parties, algorithms: ["ES256"]))
            }
            let first = try provider("first", ["app", "web"])
            let second = try provider("second", ["old"], ["phone", "tablet"])
            let third = try provider("third", ["same"], ["phone"])
            try await store.write { transaction in
                for one in [first, second, third] { _ = try ProviderRepository(transaction).insert(one) }
            }
            try await bench.restored {
                try await store.write { transaction in
                    for (one, audience, parties) in [(first, "web", ["phone"]), (second, "new", ["tablet"])] {
                        var changed = one
                        changed.issuer = ProviderIssuer(
                            url: "https://idp.example", audience: audience, parties: parties, algorithms: ["ES256"])
                        try ProviderRepository(transaction).setClients(of: changed)
                    }
                }
            } then: { restored, report in
                let found = try await restored.read { transaction in
                    try [first, second, third].map { try ProviderRepository(transaction).find($0.id)?.issuer }
                }
                #expect(found.map { $0?.audiences } == [["web"], ["new"], ["same"]])
                #expect(found.map { $0?.parties } == [["phone"], ["tablet"], ["phone"]])
                #expect(report.receivers.count == 4, "\(report.receivers)")
                for what in ["audience app", "any other party", "audience old", "party phone"] {
                    #expect(report.receivers.contains { $0.hasSuffix(what) }, "\(what)")
                }
            }
        }
    }

    /// What a restore does to rows that were removed from a table since the copy was made, or changed so that somebody
    /// may do less.
    private enum Fate {
        /// The removal is carried out again.
        case replayed
        /// What the copy has counts for nothing any more, or ends.
        case ended
        /// Nobody removes rows to take something away: they go with another row, or by their age.
        case follows
        /// What was said since is lost, and whom it concerns says it again. It gives nobody a right.
        case saidAgain
    }

    private static let fates: [String: Fate] = [
        "admin_certificates": .replayed, "admins": .replayed, "age_proofs": .replayed, "applications": .saidAgain,
        "attestation_lists": .follows, "attested_apps": .replayed, "audit_anchors": .follows,
        "audit_checkpoints": .follows,
        "audit_entries": .follows, "audit_head": .follows, "authenticated_users": .replayed,
        "authorization_rows": .follows, "authorizations": .replayed, "ban_holds": .replayed, "bans": .replayed,
        "blocks": .replayed, "certificate_notices": .follows, "certificates": .replayed, "cuts": .ended,
        "data_keys": .replayed, "device_attestations": .follows, "devices": .replayed, "discovery_budgets": .follows,
        "discovery_entries": .follows,
        "discovery_keys": .follows, "erasures": .follows, "event_stream_exclusions": .saidAgain,
        "event_streams": .replayed,
        "findable_addresses": .replayed, "forbidden_apps": .replayed, "generations": .ended,
        "identity_cards": .replayed, "issuers": .follows,
        "key_fingerprints": .follows, "maintenance_tasks": .follows, "nodes": .ended, "online_users": .ended,
        "outbox": .ended,
        "outbox_turns": .follows, "permission_cuts": .follows, "phone_failures": .follows,
        "phone_groups": .follows,
        "phone_provider_spend": .follows, "phone_sends": .follows, "phone_spend": .follows, "phone_stops": .saidAgain,
        "phone_tallies": .follows, "phone_verifications": .ended, "presences": .replayed,
        "presentations": .ended, "provider_clients": .replayed,
        "provider_keys": .replayed, "push_endpoints": .ended,
        "provider_resources": .replayed, "provider_webhooks": .replayed, "providers": .replayed, "rates": .follows,
        "recent_certifications": .follows, "revocation_counter": .follows, "revocation_lists": .replayed,
        "revoked_keys": .replayed, "schema_migrations": .follows, "sessions": .ended, "sign_in_tallies": .follows,
        "sign_ins": .follows,
        "spent_identifiers": .replayed,
        "storage_opt_outs": .replayed, "store_settings": .follows, "stream_deliveries": .follows,
        "stream_event_metadata": .follows, "stream_event_readers": .replayed,
        "stream_events": .replayed, "stream_metadata": .replayed,
        "stream_members": .replayed, "stream_users": .follows, "streams": .replayed,
        "trust_lists": .saidAgain, "user_changes": .follows,
        "users": .replayed, "waiting_acts": .ended, "wallet_origins": .replayed,
        "wrapping_versions": .follows,
    ]

    @Test(
        "It is decided for every table what a restore does to rows that were removed since", arguments: StoreKind.shared
    )
    func decided(kind: StoreKind) async throws {
        try await withStore(kind, migrations: Schema.migrations) { store in
            for table in try await store.tables().map(\.name) {
                #expect(Self.fates[table] != nil, "decide what RestoreStore does to rows removed from \(table)")
            }
        }
    }
}
