import Fixtures
import Foundation
import Testing

/// What installs, balances and watches the service. `make package-test` installs the release's package for real.
@Suite("The package", .serialized)
struct PackageTests {
    /// The repository and the built binary.
    private static func places() throws -> [String] {
        ["--root", RunningService.root.path, "--countersign", try RunningService.product("countersign")]
    }

    @Test("holds what it should, with modes, dependencies, a unit, a manual and completions that their readers accept")
    func contents() async throws {
        let printed = try await expectScript("Packaging/package.py", try Self.places(), seconds: 400)
        #expect(printed.contains("libssl3"))
    }

    @Test("has examples for haproxy, nginx and Prometheus that run as they stand but for the addresses")
    func examples() async throws {
        let printed = try await expectScript("Packaging/package_proxies.py", try Self.places(), seconds: 400)
        #expect(printed.contains("nginx: "))
    }

    @Test("has manifests of Kubernetes that its schemas accept, and a Compose file, whose names are the service's")
    func manifests() async throws {
        let printed = try await expectScript(
            "Packaging/package_manifests.py", ["--root", RunningService.root.path], seconds: 400)
        #expect(printed.contains("manifests"))
    }

    @Test("has alerts that fire when they should, and a dashboard whose every query names a metric of the service")
    func monitoring() async throws {
        let service = try await RunningService()
        let arguments = service.clientArguments + ["--root", RunningService.root.path]
        let printed = try await expectScript("Packaging/package_monitoring.py", arguments, seconds: 400)
        #expect(printed.contains("alerts"))
    }
}
