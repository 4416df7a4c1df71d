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
        let files = try SourceFile.all(below: "Sources/\(room)")
        #expect(!files.isEmpty)
        for file in files {
            for line in file.text.split(separator: "\n") where line.contains("import ") && !line.hasPrefix("//") {
                guard let module = line.split(separator: " ").last.map(String.init), ours.contains(module),
                    line.hasPrefix("import") || line.hasPrefix("@")
                else { continue }
                #expect(Self.walls[room]?.contains(module) == true, "\(room)/\(file.path) imports \(module)")
            }
        }
    }

    @Test("writes no error into a log line or a sentence but in words: a type's name helps no operator")
    func words() throws {
        let files = try SourceFile.all(below: "Sources").filter {
            !$0.path.hasPrefix("SampleProvider/") && $0.name != "ErrorWords.swift"
        }
        #expect(files.count > 200)
        for file in files {
            for wrong in [
                "type(of: error)", "type(of: cause)", "[\"cause\": \"", "reflecting: error", "(describing: error)",
            ] {
                #expect(!file.text.contains(wrong), "\(file.path)")
            }
        }
    }
}
