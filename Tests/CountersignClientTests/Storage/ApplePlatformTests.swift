import Fixtures
import Foundation
import Testing

/// There is no device of Apple here. The files for them are compiled against a stand-in of `Security`.
@Suite("The files for devices of Apple")
struct ApplePlatformTests {
    private static let files = ["Keys/SecureEnclaveKeys.swift", "Store/KeychainStore.swift"]
    /// What they use of the rest.
    private static let others = [
        "Keys/DeviceKeys.swift", "Store/SecretStore.swift", "Store/AtomicFile.swift", "Store/SealedSecret.swift",
        "Failures/StorageFailure.swift",
    ]

    @Test("agree with the rest and with the calls of Security, and say that nobody ran them")
    func typeCheck() async throws {
        let sources = RunningService.root.appending(path: "Sources/SwiftSDK/CountersignClient")
        let stub = RunningService.root.appending(path: "Tests/CountersignClientTests/Stub/Security.swift").path
        let scratch = try ScratchDirectory()
        let module = try await Command.run(
            "swiftc",
            [
                "-emit-module", "-parse-as-library", "-module-name", "Security", "-o",
                scratch.file("Security.swiftmodule"), stub,
            ],
            seconds: 240)
        #expect(module.status == 0, "\(module.errors)")
        let products = URL(filePath: try RunningService.product("countersign")).deletingLastPathComponent()
        let checked = try await Command.run(
            "swiftc",
            [
                "-typecheck", "-swift-version", "6", "-warnings-as-errors", "-enable-upcoming-feature",
                "ExistentialAny", "-I", scratch.path, "-I", products.appending(path: "Modules").path,
            ] + (Self.files + Self.others).map { sources.appending(path: $0).path }, seconds: 240)
        #expect(checked.status == 0, "\(checked.errors)")
        for file in Self.files {
            let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            #expect(text.hasPrefix("#if canImport(Security)\n") && text.contains("It was not run on an Apple device"))
            #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 200)
        }
    }
}
