import Fixtures
import Foundation
import Testing

/// What the documents require that the service was built from: tests show it, or a page says why it is left out.
@Suite("The requirements")
struct RequirementTests {
    private struct Requirement: Decodable {
        let number: Int
        let document, section, requirement: String
        let shown: [String]?
        let leftOut: String?

        private enum CodingKeys: String, CodingKey {
            case number, document, section, requirement, shown
            case leftOut = "left_out"
        }
    }

    private let requirements: [Requirement]

    init() throws {
        let file = RunningService.root.appending(path: "Tests/Interop/Documents/requirements.json")
        requirements = try JSONDecoder().decode([Requirement].self, from: try Data(contentsOf: file))
    }

    @Test("are listed in their order, each either shown or left out")
    func complete() {
        #expect(requirements.map(\.number) == Array(1...142))
        for one in requirements {
            #expect((one.shown == nil) != (one.leftOut == nil), "\(one.number)")
            #expect(one.shown?.isEmpty != true, "\(one.number)")
            #expect(!one.document.isEmpty && !one.requirement.isEmpty, "\(one.number)")
        }
    }

    @Test("are shown by tests that are there")
    func shown() throws {
        let tests = try NamedTests()
        for one in requirements {
            for name in one.shown ?? [] {
                if let test = name.wholeMatch(of: /(\w+Tests)\/(\w+)/) {
                    #expect(tests.has(test.2, in: String(test.1)), "\(one.number): \(name)")
                } else if let script = name.wholeMatch(of: /(\w+\/\w+\.py) (\w+)/) {
                    #expect(NamedTests.isScript(script.1, with: script.2), "\(one.number): \(name)")
                } else {
                    Issue.record("\(one.number): \(name) is not a test")
                }
            }
        }
    }

    @Test("are left out under the headings of a page, in its order, and each heading has some")
    func leftOut() throws {
        let page = try MarkdownDocument("Sources/countersign/countersign.docc/LeftOut.md")
        var (headings, document): ([String], Substring) = ([], "")
        for line in page.text.split(separator: "\n") {
            if line.hasPrefix("## ") { document = line.dropFirst(3) }
            if line.hasPrefix("### ") { headings.append("\(document): \(line.dropFirst(4))") }
        }
        var named: [String] = []
        for one in requirements {
            guard let heading = one.leftOut.map({ "\(one.document): \($0)" }), !named.contains(heading) else {
                continue
            }
            named.append(heading)
        }
        #expect(headings.count > 10)
        #expect(named == headings)
    }
}

/// The tests that documents can name.
struct NamedTests {
    /// The functions with `@Test` of each suite, including those of its extensions.
    private var suites: [String: Set<String>] = [:]

    init() throws {
        let suiteName = /\b(?:struct|class|extension|actor|enum) (\w+Tests)\b/
        let functionName = /\bfunc (\w+)/
        for file in try SourceFile.all(below: "Tests") where file.text.contains("@Test") {
            var (suite, isTest) = ("", false)
            for line in file.text.split(separator: "\n") {
                if line.contains("Tests"), !line.contains("//"), let found = line.firstMatch(of: suiteName) {
                    suite = String(found.1)
                    if suites[suite] == nil { suites[suite] = [] }
                }
                if line.hasPrefix("    @Test") { isTest = true }
                if isTest, let function = line.firstMatch(of: functionName) {
                    suites[suite, default: []].insert(String(function.1))
                    isTest = false
                }
            }
        }
    }

    /// Whether a suite or a target of tests has this name.
    func has(_ suite: String) -> Bool {
        let folder = RunningService.root.appending(path: "Tests/\(suite)")
        return suites[suite] != nil || FileManager.default.fileExists(atPath: folder.path)
    }

    func has(_ function: Substring, in suite: String) -> Bool { suites[suite]?.contains(String(function)) == true }

    /// Whether a path below `Tests/Interop` is a script with this function.
    static func isScript(_ path: Substring, with function: Substring?) -> Bool {
        guard let script = try? MarkdownDocument("Tests/Interop/\(path)") else { return false }
        return function.map { script.text.contains("\ndef \($0)(") } ?? true
    }
}
