import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Console

/// Every page of the route table in headless Chromium, over a store whose texts are hostile. If the browser or a judge is
/// missing, the test fails and says so.
@Suite("The console in a browser", .serialized)
struct ConsoleBrowserTests {
    /// The route table with the roles that each route permits.
    private static var routes: JSONValue {
        .array(
            ConsoleRoutes.all.map { route in
                .object([
                    "kind": .string(route.kind == .page ? "page" : "action"), "path": .string(route.path.description),
                    "roles": .array(
                        AdminRole.allCases.filter { $0.includes(route.right) }.map { .string($0.rawValue) }),
                ])
            })
    }

    private static func walk(_ arguments: [String]) async throws {
        let scratch = try ScratchDirectory()
        let routes = try scratch.write(Self.routes.jsonBytes, "routes.json")
        try await expectScript(
            "Console/browser.py",
            [
                "--countersign", try RunningService.product("countersign"), "--policies",
                RunningService.root.appending(path: "Policies").path, "--directory", scratch.path, "--routes",
                routes,
            ] + arguments, seconds: 900)
    }

    @Test("shows each page to the roles that have it, and no text becomes an element: WCAG, HTML, keyboard and widths")
    func pages() async throws {
        // The pictures of `Console.md` are made so, in a directory that is there.
        let pictures = ProcessInfo.processInfo.environment["COUNTERSIGN_PICTURES"].map { ["--pictures", $0] }
        try await Self.walk(pictures ?? [])
    }

    @Test("shows every page as every role, in light and dark")
    func whole() async throws { try await Self.walk(["--whole"]) }
}
