import Fixtures
import Foundation
import Testing

/// Servers that tests start, kill and start again at the same port.
@Suite("Ports of servers")
struct PortRuleTests {
    /// Places that look for a port, with the range that they take it from. The kernel gives ports above it to clients.
    private static let places = [
        "Tests/Fixtures/FreePort.swift": "10_000..<32_000",
        "Tests/Interop/Shared/ports.py": "FIRST, LAST = 10_000, 32_000",
        "Sources/QuickStarts/starting.py": "random.randrange(10_000, 32_000)",
        "Sources/CountersignAndroid/src/test/java/org/countersign/client/support/LiveService.java":
            "nextInt(10_000, 32_000)",
    ]

    @Test("are never ones that the kernel may give to a client while the server is away")
    func range() throws {
        let root = RunningService.root
        var found: Set<String> = []
        for folder in ["Sources", "Tests"] {
            let names = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
            for name in names where ["swift", "py", "java"].contains((name as NSString).pathExtension) {
                let path = "\(folder)/\(name)"
                let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
                let words = ["getsockname", "ServerSocket", "free_port", "reePort"]
                guard !path.hasSuffix("PortRuleTests.swift"), words.contains(where: { text.contains($0) }) else {
                    continue
                }
                // A port that was found by a listener which ends at once.
                let looks =
                    text.contains(/(?i)(def|func|int) free_?port\(/)
                    || text.contains(/try \(ServerSocket|enum FreePort/)
                let closes = text.contains(
                    /with socket\.[^\n]*as (\w+):\n(\s*\1\.bind[^\n]*\n)?[^\n]*\1\.getsockname\(\)\[1\]/)
                if looks || closes { found.insert(path) }
            }
        }
        #expect(found == Set(Self.places.keys))
        for (path, range) in Self.places {
            #expect(try String(contentsOf: root.appending(path: path), encoding: .utf8).contains(range), "\(path)")
        }
    }
}
