import Fixtures
import Foundation
import Testing

/// Each refusal is a named constant in a file of its feature, `…Refusals.swift`.
@Suite("The rule of refusals")
struct RefusalRuleTests {
    /// The targets below the API and the command line.
    private static let below = [
        "Domain", "Tokens", "Authority", "Cards", "Delivery", "Database", "Repositories", "Operations",
    ]

    private static func files(_ targets: [String]) throws -> [SourceFile] {
        let files = try targets.flatMap { try SourceFile.all(below: "Sources/\($0)") }
        #expect(files.count > 100)
        return files
    }

    /// The code without comment lines, which may show what code may not do.
    private static func code(_ file: SourceFile) -> String {
        file.text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
    }

    @Test("a sentence stands with its code among the constants, not where it is thrown")
    func constants() throws {
        let files = try Self.files(Self.below + ["API", "Console", "countersign"])
        let (constants, others) = (
            files.filter { $0.name.hasSuffix("Refusals.swift") }, files.filter { !$0.name.hasSuffix("Refusals.swift") }
        )
        #expect(constants.count > 15)
        for file in others {
            let code = Self.code(file)
            #expect(!code.contains(/\bRefusal\(\s*\.|\bRefusal\([^()]*"|throw \.init\(/), "\(file.path)")
        }
    }

    @Test("a body is parsed to its end before the first change, and a PATCH makes one change (RFC 5789 §2)")
    func parsing() throws {
        var bodies = 0
        for file in try SourceFile.all(of: "API") {
            for part in Self.code(file).split(separator: ".members(upTo:").dropFirst() {
                let parts = part.split(separator: "rejectUnknown", maxSplits: 1)
                // Shared Signals (SSF 1.0 §8.1.1) ignores unknown members.
                guard parts.count == 2 else { continue }
                bodies += 1
                let before = parts[0].prefix { $0 != "}" }
                #expect(!before.contains("await service."), "\(file.path): \(before)")
            }
            for part in Self.code(file).split(separator: ".patch(").dropFirst() {
                // A handler of one line, or one up to its brace.
                let line = part.prefix { $0 != "\n" }
                let handler = line.contains("}") ? line : part.split(separator: "\n        }")[0]
                let changes = handler.matches(of: /await service\.(?!read)/).count
                #expect(changes <= 1, "\(file.path): \(handler)")
            }
        }
        #expect(bodies > 12)
    }

    @Test("a sentence is written once")
    func once() throws {
        var places: [String: [String]] = [:]
        for file in try Self.files(Self.below + ["API"]) where file.name.hasSuffix("Refusals.swift") {
            for match in Self.code(file).matches(of: /"((?:[^"\\]|\\.)* (?:[^"\\]|\\.)*\.)"/) {
                places[String(match.output.1), default: []].append(file.path)
            }
        }
        #expect(places.count > 200)
        for (sentence, files) in places { #expect(files.count == 1, "\(sentence) is in \(files)") }
    }

    @Test("a sentence about a conflict or an unknown thing is followed by what to do")
    func remedies() throws {
        var count = 0
        for file in try Self.files(Self.below + ["API", "Console"]) where file.name.hasSuffix("Refusals.swift") {
            for part in Self.code(file).components(separatedBy: "Refusal(").dropFirst() {
                guard part.contains(/^\s*\.(?:conflict|notFound)\b/) else { continue }
                count += 1
                // The call, and the braces after it.
                let call = part.components(separatedBy: "\n\n")[0].components(separatedBy: "\n    }")[0]
                let text = call.matches(of: /"((?:[^"\\]|\\.)*)"/).map { String($0.output.1) }.joined()
                // With a subject each surface appends its own remedy, such as a flag.
                #expect(call.contains("about: .") || text.contains(/\.\s/), "\(file.path): \(text)")
            }
        }
        #expect(count > 100)
    }

    @Test("no member of JSON is named below the API, which knows it by the subject of the refusal")
    func members() throws {
        for file in try Self.files(Self.below) {
            // A sentence about a member of the body, and a path of it that is handed on.
            #expect(!Self.code(file).contains(/"[^"\n]*\$\.[a-z_\\]/), "\(file.path)")
        }
    }
}
