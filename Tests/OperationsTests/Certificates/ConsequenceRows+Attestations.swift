import Delivery
import Domain
import Fixtures
import Foundation
import Operations
import Testing

extension ConsequenceTests {
    private static func android() throws -> AttestedApp {
        try #require(AttestedApp(package: AndroidKeyMint.package, certificate: AndroidKeyMint.signer))
    }

    private static func add(_ app: AttestedApp, _ world: ConsequenceWorld) async throws {
        try await world.fixture.admin.addAttestedApp(app, to: world.fixture.registration.applicationID)
    }

    static let attestationRows: [Row] = [
        .service("RefreshAttestationStatus") { world in
            // Without an app of Android nothing is fetched.
            try await add(try android(), world)
            return { node in
                let list = Array(#"{"entries": {}}"#.utf8)
                _ = try await RefreshAttestationStatus(node.context) { .read(list) }()
            }
        },
        .admin(
            "AddAttestedApp", audit: ["provider_changed"], notices: ["provider_keys"], effects: [.dropsProvider]
        ) { world in
            let app = try android()
            return { _ in try await add(app, world) }
        },
        .admin(
            "RemoveAttestedApp", audit: ["provider_changed"], notices: ["provider_keys"], effects: [.dropsProvider]
        ) { world in
            let app = try android()
            try await add(app, world)
            return { _ in
                try await world.fixture.admin.removeAttestedApp(app, of: world.fixture.registration.applicationID)
            }
        },
    ]
}
