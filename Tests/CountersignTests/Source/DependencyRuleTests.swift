import Fixtures
import Foundation
import Testing

@Suite("The dependency rule")
struct DependencyRuleTests {
    /// Which of our targets each target may import. Arrows point downward only.
    static let allowed: [String: Set<String>] = [
        "Encoding": [], "Traces": ["Encoding"], "PhoneNumbers": [], "Domain": ["Encoding", "PhoneNumbers"],
        "Database": ["CPostgreSQL"],
        "Tokens": ["Encoding", "PhoneNumbers", "Domain", "COpenSSL"], "Authority": ["Encoding", "Domain", "COpenSSL"],
        "Cards": ["Encoding", "Domain"], "Delivery": ["Encoding", "Traces", "PhoneNumbers", "Domain"],
        "Repositories": ["Encoding", "PhoneNumbers", "Domain", "Database"],
        "Operations": [
            "Encoding", "PhoneNumbers", "Domain", "Tokens", "Authority", "Cards", "Delivery", "Database",
            "Repositories",
        ],
        "Herald": ["Encoding"], "API": ["Encoding", "Traces", "Domain", "Operations", "Herald"],
        "Console": ["Encoding", "Domain", "Authority", "Operations"],
        "SampleProvider": ["CJWT"], "CountersignClient": ["Encoding", "Herald"],
        "CountersignSync": ["CountersignClient"], "Samples": [],
    ]

    @Test("a target imports only what the rule allows", arguments: allowed.keys.sorted())
    func imports(target: String) throws {
        let ours = Set(Self.allowed.keys).union(["countersign", "CBuild", "COpenSSL", "CPostgreSQL", "CJWT"])
        let files = try SourceFile.all(of: target)
        #expect(!files.isEmpty)
        for file in files {
            for line in file.text.split(separator: "\n") where line.contains("import ") && !line.hasPrefix("//") {
                guard let module = line.split(separator: " ").last.map(String.init), ours.contains(module),
                    line.hasPrefix("import") || line.hasPrefix("@")
                else { continue }
                #expect(Self.allowed[target]?.contains(module) == true, "\(target)/\(file.path) imports \(module)")
            }
        }
    }

    @Test("a folder holds at most twelve files, and a file at most 300 lines", arguments: ["Sources", "Tests"])
    func folders(top: String) throws {
        let files = try SourceFile.all(below: top)
        let folders = Dictionary(grouping: files) { $0.path.dropLast($0.name.count) }
        #expect(folders.count > 60)
        for (folder, files) in folders { #expect(files.count <= 12, "\(folder) holds \(files.count)") }
        for file in files {
            let lines = file.text.utf8.count { $0 == UInt8(ascii: "\n") }
            #expect(lines <= 300, "\(top)/\(file.path) has \(lines)")
        }
    }

    @Test("the same holds for the judges in Python")
    func judges() throws {
        let base = RunningService.root.appending(path: "Tests/Interop")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: base.path).filter { $0.hasSuffix(".py") }
        let folders = Dictionary(grouping: paths) { $0.split(separator: "/").dropLast() }
        #expect(folders.count > 20)
        for (folder, files) in folders { #expect(files.count <= 12, "\(folder) holds \(files.count)") }
        for path in paths {
            let text = try String(contentsOf: base.appending(path: path), encoding: .utf8)
            let lines = text.utf8.count { $0 == UInt8(ascii: "\n") }
            #expect(lines <= 300, "\(path) has \(lines)")
        }
    }

    @Test("certificates of others are read strictly: a library reads several spellings of one")
    func certificates() throws {
        let readers = try SourceFile.all(below: "Sources/Authority")
            .filter { file in
                ["Attestation/", "ClientChain/", "IssuerChain/"].contains { file.path.contains($0) }
            }
        #expect(readers.count > 9)
        #expect(readers.filter { $0.text.contains("Certificate(derEncoded:") }.map(\.path) == [])
    }

    @Test("a wait ends with its condition: `where` would ask it again until the loop's own end")
    func waits() throws {
        for file in try SourceFile.all(below: "Tests") {
            guard file.text.contains(" where try ") else { continue }
            let asking = file.text.split(separator: "\n").filter { $0.contains(" where try ") }
            #expect(!asking.contains { $0.drop { $0 == " " }.hasPrefix("for _ in ") }, "Tests/\(file.path)")
        }
    }

    @Test("names no flag below the command line: a page or an app would show it to a caller who has none")
    func flags() throws {
        for target in Self.allowed.keys.sorted() where !["SampleProvider", "Samples"].contains(target) {
            // Custom properties of CSS have two dashes too.
            for file in try SourceFile.all(of: target) where file.name != "StyleSheet.swift" {
                // The flags of another program: PostgreSQL's createdb.
                let text = file.text.replacing(/createdb --.*/, with: "")
                #expect(!text.contains(/(?:^|[^-A-Za-z0-9])--(?:[a-z]|\\\()/), "\(target)/\(file.path)")
            }
        }
    }

    @Test("has no task-local function: a release build of Swift 6.3 does not find its type, and ends")
    func taskLocals() throws {
        var count = 0
        for file in try SourceFile.all(below: "Sources") {
            for line in file.text.split(separator: "\n") where line.contains("@TaskLocal ") {
                count += 1
                #expect(!line.contains("->"), "\(file.path)")
            }
        }
        #expect(count > 2)
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
