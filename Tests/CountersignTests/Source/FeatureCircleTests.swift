import Fixtures
import Testing

/// The folders of a target use each other in one direction: the reader of one knows what lies below it.
@Suite("The folders of a target")
struct FeatureCircleTests {
    /// What all features of a target share. In `Domain` an identifier is named for what it identifies, and a refusal
    /// carries values of every feature.
    static let shared: [String: Set<String>] = [
        "Operations": [], "Repositories": [], "countersign": [], "Domain": ["Shared"], "API": [], "Authority": [],
        "Cards": [], "Console": [], "Database": [], "Delivery": [], "Tokens": [], "Encoding": [],
    ]

    @Test("use each other in no circle", arguments: shared.keys.sorted())
    func circles(target: String) throws {
        let shared = Self.shared[target, default: []]
        let edges = try uses(in: target).filter { !shared.contains($0.from) && !shared.contains($0.to) }
        #expect(edges.count > 3)
        // Whatever uses nothing that is left is in no circle: it is taken out, again and again.
        var left = edges
        var removed = true
        while removed {
            let users = Set(left.map(\.from))
            let rest = left.filter { users.contains($0.to) }
            removed = rest.count < left.count
            left = rest
        }
        #expect(left.isEmpty, "\(Set(left.map { "\($0.from) uses \($0.name) of \($0.to)" }).sorted())")
    }

    private struct Use: Hashable {
        let from: String
        let to: String
        let name: String
    }

    /// Which folder names a type that another one declares.
    private func uses(in target: String) throws -> Set<Use> {
        let files = try SourceFile.all(of: target).map { file in
            (folder: String(file.path.split(separator: "/").first ?? ""), text: Self.code(file.text))
        }
        var declared: [String: Set<String>] = [:]
        for (folder, text) in files {
            for match in text.matches(of: Self.declaration) {
                declared[String(match.output.1), default: []].insert(folder)
            }
        }
        #expect(declared.count > 10)
        var uses: Set<Use> = []
        for (folder, text) in files {
            for match in text.matches(of: /\b[A-Z]\w+/) {
                let name = String(match.output)
                guard let owners = declared[name], owners.count == 1, let owner = owners.first, owner != folder else {
                    continue
                }
                uses.insert(Use(from: folder, to: owner, name: name))
            }
        }
        return uses
    }

    /// A type that other files can name: it begins its line.
    private static var declaration: Regex<(Substring, Substring)> {
        /(?m)^(?:public |package )?(?:final )?(?:struct|enum|class|protocol|actor|typealias) (\w+)/
    }

    /// A source without its comments and what stands in quotes.
    private static func code(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.prefix(upTo: line.firstRange(of: "//")?.lowerBound ?? line.endIndex)
        }.joined(separator: "\n").replacing(/"(?:\\.|[^"\\\n])*"/, with: "")
    }
}
