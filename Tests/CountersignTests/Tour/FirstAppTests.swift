import Fixtures
import Foundation
import Testing

@Suite("The first app of the SDK", .serialized)
struct FirstAppTests {
    private static let page = "Sources/SwiftSDK/CountersignClient/CountersignClient.docc/FirstApp.md"

    /// The page's manifest, and its source: the other blocks in their order.
    private static func files() throws -> (manifest: String, source: String) {
        let blocks = try MarkdownDocument(page).text.matches(of: /```swift\n(.*?)\n```/.dotMatchesNewlines())
            .map { String($0.1) }
        let manifest = try #require(blocks.first)
        #expect(manifest.hasPrefix("// swift-tools-version"))
        return (manifest + "\n", blocks.dropFirst().joined(separator: "\n\n") + "\n")
    }

    /// Runs an app in development mode, as `make run` has it, with a policy that requires presence.
    private static func expectWalk(_ app: String) async throws {
        let service = try await RunningService(
            policies: ["phones.yaml": "presence_required: true\n"], arguments: ["--development"])
        try await expectScript(
            "Documents/first_app.py",
            service.clientArguments + [
                "--sample", try RunningService.product("sample-provider"), "--countersign",
                try RunningService.product("countersign"), "--app", app,
            ], seconds: 400)
    }

    @Test("is the source that is built here, block by block")
    func source() throws {
        let file = RunningService.root.appending(path: "Tests/FirstApp/main.swift")
        #expect(try Self.files().source == String(contentsOf: file, encoding: .utf8))
    }

    @Test("leads from an empty app to a verified user")
    func walk() async throws { try await Self.expectWalk(try RunningService.product("FirstApp")) }

    @Test("finds its package as a branch too, whose tree is the folder's")
    func branch() async throws {
        let scratch = try ScratchDirectory()
        let clone = scratch.file("clone")
        for (program, arguments) in [
            ("git", ["clone", "--quiet", RunningService.root.path, clone]),
            ("bash", ["\(clone)/Sources/Packaging/sdk.sh", scratch.file("written"), "sdk"]),
        ] {
            let done = try await Command.run(program, arguments, seconds: 400)
            #expect(done.status == 0, "\(done.errors)")
        }
        let trees = try await Command.run("git", ["-C", clone, "rev-parse", "sdk^{tree}", "HEAD:Sources/SwiftSDK"])
        let names = trees.output.split(separator: "\n")
        #expect(names.count == 2 && names.first == names.last, "\(trees.output)\(trees.errors)")
    }

    @Test("is built as written in a new folder beside the tree of `make sdk`, with ranges of its own for the libraries")
    func newFolder() async throws {
        let scratch = try ScratchDirectory()
        let script = RunningService.root.appending(path: "Sources/Packaging/sdk.sh").path
        let written = try await Command.run("bash", [script, scratch.path])
        #expect(written.status == 0, "\(written.errors)")
        let (manifest, source) = try Self.files()
        // Narrower than those of the SDK, and not exact as those of the service.
        let ranges = try SDKPackageTests.pins().map { library, pin in
            let version = (pin.version.prefix(2) + [0]).map(String.init).joined(separator: ".")
            return ".package(url: \"\(library)\", .upToNextMinor(from: \"\(version)\"))"
        }
        let tree = #".package(path: "../countersign-client")"#
        #expect(manifest.contains(tree) && ranges.count >= 5)
        let folder = scratch.file("first-app")
        try FileManager.default.createDirectory(
            atPath: "\(folder)/Sources/FirstApp", withIntermediateDirectories: true)
        try scratch.write(
            manifest.replacing(tree, with: ([tree] + ranges).joined(separator: ", ")), "first-app/Package.swift")
        try scratch.write(source, "first-app/Sources/FirstApp/main.swift")
        // Not in the scratch directory, which may be in memory.
        let products = RunningService.root.appending(path: ".build/first-app").path
        let built = try await Command.run(
            "swift", ["build", "--package-path", folder, "--scratch-path", products], seconds: 3_000)
        try #require(built.status == 0, "\(built.output)\(built.errors)")
        try await Self.expectWalk("\(products)/debug/FirstApp")
        withExtendedLifetime(scratch) {}
    }
}
