import Domain
import Encoding
import Fixtures
import Operations

@testable import API

/// The operations behind each group of routes.
extension RouterBench {
    static func discoveryRoutes(_ fixture: ServiceFixture) -> DiscoveryRoutes {
        DiscoveryRoutes(
            service: fixture.context, pins: { ["one", "two"] },
            webKeys: [.object([JSONMember(name: "kid", value: .string("key"))])])
    }
}
