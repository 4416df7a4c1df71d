import Fixtures
import Foundation
import Testing

@Suite("The house")
struct HouseTests {
    /// Which of our rooms each room may enter.
    static let walls: [String: Set<String>] = [
        "Identity": [], "Database": ["CPostgreSQL"], "Tokens": ["Identity"], "Authority": ["Identity", "COpenSSL"],
        "Cards": ["Identity"], "Delivery": ["Identity"], "Records": ["Identity", "Database"],
        "Operations": ["Identity", "Tokens", "Authority", "Cards", "Delivery", "Database", "Records"],
        "API": ["Identity", "Operations"],
        "SampleProvider": ["CJWT"],
    ]

    @Test("keeps its walls: a room imports only what the plan allows", arguments: walls.keys.sorted())
    func imports(room: String) throws {
        let ours = Set(Self.walls.keys).union(["countersign", "COpenSSL", "CPostgreSQL", "CJWT", "Cards"])
        let folder = RunningService.root.appending(path: "Sources/\(room)")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        #expect(!files.isEmpty)
        for file in files {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            for line in text.split(separator: "\n") where line.contains("import ") && !line.hasPrefix("//") {
                guard let module = line.split(separator: " ").last.map(String.init), ours.contains(module),
                    line.hasPrefix("import") || line.hasPrefix("@")
                else { continue }
                #expect(Self.walls[room]?.contains(module) == true, "\(room)/\(file) imports \(module)")
            }
        }
    }

    @Test("writes no error into a log line or a sentence but in words: a type's name helps no operator")
    func words() throws {
        let sources = RunningService.root.appending(path: "Sources")
        var files = 0
        for room in try FileManager.default.contentsOfDirectory(atPath: sources.path) where room != "SampleProvider" {
            let folder = sources.appending(path: room)
            for file in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            where file.hasSuffix(".swift") && file != "ErrorWords.swift" {
                files += 1
                let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
                for wrong in [
                    "type(of: error)", "type(of: cause)", "[\"cause\": \"", "reflecting: error", "(describing: error)",
                ] {
                    #expect(!text.contains(wrong), "\(room)/\(file)")
                }
            }
        }
        #expect(files > 200)
    }
}
