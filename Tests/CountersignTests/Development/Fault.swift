import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import countersign

/// Something that an operator may get wrong, or that time does.
struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let check: Finding.Check
    /// What the line must say.
    let words: String
    let plant: @Sendable (Installation) async throws -> Void

    private init(
        _ name: String, _ check: Finding.Check, _ words: String,
        _ plant: @escaping @Sendable (Installation) async throws -> Void
    ) {
        (testDescription, self.check, self.words, self.plant) = (name, check, words, plant)
    }

    static let all = configured + kept + lasting + wallets + shared

    private static let configured = [
        Fault("the gate is open", .gate, "certification.yaml") {
            try $0.write("Policies/certification.yaml", "gate: open\n")
        },
        Fault("the realm is the developer's", .realm, "--realm") { installation in
            installation.arguments = Installation.named.map { $0 == "auth.example" ? "localhost" : $0 }
        },
        Fault("a URL leads nowhere", .urls, "--client-url") { installation in
            installation.arguments = Installation.named.map {
                $0.hasPrefix("https://clients.") ? "https://127.0.0.1:8441" : $0
            }
        },
        Fault("the ops listener is open to all", .configuration, "--ops-tls") {
            $0.arguments += ["--ops", "0.0.0.0:8442"]
        },
        Fault("a setting is misspelt", .configuration, "did you mean 'realm'") {
            try $0.write("countersign.yaml", "relm: auth.example\n")
        },
        Fault("limits are off behind a proxy", .limits, "rate limits") { installation in
            installation.arguments = Array(Installation.named.dropFirst(4)) + ["--limits", "off"]
        },
        Fault("providers may name this machine", .limits, "--loopback-urls") { installation in
            installation.arguments = Array(Installation.named.dropFirst(4)) + ["--loopback-urls"]
        },
        Fault("a policy is misspelt", .policies, "did you mean 'validity'") {
            try $0.write("Policies/certification.yaml", "gate: provider\nvaldity: 1d\n")
        },
        Fault("texts go to a file", .senders, "delivery.yaml") {
            try $0.write("Policies/delivery.yaml", "senders:\n  - kind: file\n")
        },
        Fault("a sender's secret is missing", .senders, "webhook.secret") {
            try FileManager.default.removeItem(atPath: $0.path("Keys/webhook.secret"))
        },
    ]

    private static let kept = [
        Fault("a private key can be read by others", .permissions, "service.key") {
            try $0.chmod("Keys/service.key", 0o644)
        },
        Fault("the keys can be replaced by others", .permissions, "chmod 700") { try $0.chmod("Keys", 0o777) },
        Fault("the store can be read by others", .permissions, "store.db") { try $0.chmod("store.db", 0o644) },
        Fault("a key is missing", .keys, "nonce.key") {
            try FileManager.default.removeItem(atPath: $0.path("Keys/nonce.key"))
        },
        Fault("the certificate is for another host", .certificate, "other.example") { installation in
            installation.arguments = Installation.named.map {
                $0 == "https://auth.example" ? "https://other.example" : $0
            }
        },
        Fault("a key was never rotated", .keys, "days old") {
            try FileManager.default.setAttributes(
                [.modificationDate: Date().addingTimeInterval(-500 * 86_400)],
                ofItemAtPath: $0.path("Keys/service.key"))
        },
        Fault("the keys are another store's", .keys, "wrapping.key") {
            try FileManager.default.removeItem(atPath: $0.path("Keys/wrapping.key"))
            try Installation.makeKeys($0.path("Keys"), madeAt: Date())
        },
    ]

    private static let lasting = [
        Fault("the server's certificate ends soon", .certificate, "expires at") {
            for name in ["ca.pem", "ca.key", "server.pem", "server.key"] {
                try FileManager.default.removeItem(atPath: $0.path("Keys/\(name)"))
            }
            try Installation.makeKeys($0.path("Keys"), madeAt: Date().addingTimeInterval(-380 * 86_400))
        },
        Fault("the authority ends before what it issues", .authority, "new root") {
            try $0.write("Policies/certification.yaml", "gate: provider\nvalidity: 7300d\n")
        },
        Fault("the authority of administrators ends soon", .authority, "keys rotate admin-ca --stage") { installation in
            let began = Date().addingTimeInterval(-(20 * 365 - 20) * 86_400)
            try AdministratorAuthority(
                directory: installation.path("Keys"), now: began, randomBytes: { [UInt8](repeating: 7, count: $0) }
            ).create(.adminAuthorityKey, .adminAuthorityCertificate)
        },
        Fault("the store was never backed up", .backup, "never") { try await $0.age(days: 8) },
        Fault("the clock is an hour ahead", .clock, "ahead of") { $0.now = Date().addingTimeInterval(3600) },
        Fault("the clock was set back", .clock, "in the future") { installation in
            try await installation.within { store in
                _ = try await store.write {
                    try $0.execute(
                        "UPDATE audit_entries SET at = at + 86400000 WHERE event = $1",
                        [.text(AuditRepository.Event.providerAdded.rawValue)])
                }
            }
        },
        Fault("no list of revoked attestations was fetched", .attestations, "never fetched") { installation in
            try installation.write("Policies/certification.yaml", "gate: attested\n")
            try await installation.within { store in
                try await store.write { transaction in
                    let providers = ProviderRepository(transaction)
                    guard let provider = try providers.list().first,
                        let app = try providers.listApplications(of: provider.id).first,
                        let attested = AttestedApp(
                            package: AndroidKeyMint.package, certificate: AndroidKeyMint.signer)
                    else { return }
                    _ = try AttestationRepository(transaction).add(attested, for: app.id)
                }
            }
        },
        Fault("reference data is old", .referenceData, "numbering_plans (") { $0.referenceAge = 1 },
        Fault("the disk is full", .disk, "MiB free") { $0.freeBytes = 1_048_576 },
    ]

    private static let wallets = [
        Fault("a sample issuer is trusted", .issuers, "sample.pem is a sample issuer") {
            _ = try SampleIssuer.create(in: $0.path("Keys"), now: Date())
            try $0.write("Policies/wallet.yaml", "enabled: true\n")
        },
        Fault("others may read the key for wallets", .permissions, "wallet.key is a private key") {
            _ = try SampleIssuer.create(in: $0.path("Keys"), now: Date())
            try $0.write("Policies/wallet.yaml", "enabled: true\n")
            try $0.chmod("Keys/wallet.key", 0o644)
        },
        Fault("the certificate for wallets ends soon", .certificate, "wallet.pem expires at") {
            _ = try SampleIssuer.create(in: $0.path("Keys"), now: Date() - 380 * 86_400)
            try $0.write("Policies/wallet.yaml", "enabled: true\n")
        },
        Fault("no certificate for wallets is there", .certificate, "wallet.pem is missing") {
            try $0.trustList()
            try FileManager.default.removeItem(atPath: $0.path("Keys/wallet.pem"))
        },
        Fault("the list of issuers has no root", .certificate, "vical.pem is missing") {
            _ = try SampleIssuer.create(in: $0.path("Keys"), now: Date())
            try $0.write("Policies/wallet.yaml", "enabled: true\nvical_url: https://list.example/vical\n")
        },
        Fault("the root of the list of issuers ends soon", .certificate, "vical.pem expires at") {
            try $0.trustList(at: Date() - 380 * 86_400)
        },
        Fault("the list of issuers was never fetched", .issuers, "issuer fetch") { try $0.trustList() },
        Fault("the list of issuers is old", .issuers, "was due at") { installation in
            try installation.trustList()
            try await installation.within { store in
                _ = try await store.write {
                    try TrustListRepository($0, at: "https://list.example/vical").store(
                        [1], date: Date() - 3 * 86_400, nextUpdate: nil)
                }
            }
        },
    ]

    private static let shared = [
        Fault("the store is missing", .store, "There is no store") {
            try FileManager.default.removeItem(atPath: $0.path("store.db"))
        },
        Fault("the store is empty", .schema, "store migrate") { installation in
            try FileManager.default.removeItem(atPath: installation.path("store.db"))
            try await installation.within { try await $0.migrate([]) }
        },
        Fault("the store is a developer's", .mode, "development") { installation in
            try await installation.within { store in
                _ = try await store.write {
                    try $0.execute("INSERT INTO store_settings (name, value) VALUES ('mode', 'development')")
                }
            }
        },
        Fault("no provider is enabled", .providers, "provider add") { installation in
            try await installation.within { store in
                _ = try await store.write { try $0.execute("UPDATE providers SET disabled_at = 1") }
            }
        },
        Fault("a node has other policies", .nodes, "phones.yaml") {
            var policy = try $0.policy()
            policy.phones.digits = 8
            try await $0.addNode(try $0.fingerprints(policy: policy))
        },
        Fault("housekeeping is overdue", .housekeeping, "has been due since") { installation in
            try await installation.addNode(try installation.fingerprints(policy: try installation.policy()))
            try await installation.within { store in
                _ = try await store.write { transaction in
                    _ = try MaintenanceTaskRepository(transaction).lease("sessions", to: "nobody", for: 1)
                    _ = try transaction.execute("UPDATE nodes SET started_at = 1")
                    return try transaction.execute("UPDATE maintenance_tasks SET due_at = 1")
                }
            }
        },
    ]
}

extension Installation {
    /// Enables wallets with a list of issuers.
    ///
    /// - Parameter moment: when the root of the list was made, for 400 days.
    fileprivate func trustList(at moment: Date = Date()) throws {
        _ = try SampleIssuer.create(in: path("Keys"), now: Date())
        try FileManager.default.removeItem(atPath: self.path("Keys/issuers/sample.pem"))
        let root = try TrustListMint([], now: moment).root
        try write("Keys/vical.pem", PEM.encode(root, label: "CERTIFICATE"))
        try write("Policies/wallet.yaml", "enabled: true\nvical_url: https://list.example/vical\n")
    }
}
