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

    @Test(
        "It is decided for every table what a restore does to rows that were removed since", arguments: StoreKind.shared
    )
    func decided(kind: StoreKind) async throws {
        try await withStore(kind, migrations: Schema.migrations) { store in
            for table in try await store.tables().map(\.name) {
                #expect(
                    RestoreFate.ofTables[table] != nil, "decide what RestoreStore does to rows removed from \(table)")
            }
        }
    }
}
