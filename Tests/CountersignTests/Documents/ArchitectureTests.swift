import Fixtures
import Foundation
import Testing

/// A stranger looks up what the page names, so a renamed type changes the page in the same commit.
@Suite("The page on architecture")
struct ArchitectureTests {
    private let document: MarkdownDocument

    init() throws { document = try MarkdownDocument("Sources/countersign/countersign.docc/Architecture.md") }

    @Test("has at most 250 lines and names types, targets and folders that are there")
    func names() async throws {
        #expect(document.text.split(separator: "\n", omittingEmptySubsequences: false).count <= 251)
        let declarations = try await Command.run(
            "grep",
            ["-rhoE", "(struct|class|enum|actor|protocol) [A-Za-z0-9]+"]
                + ["Sources", "Tests"].map { RunningService.root.appending(path: $0).path })
        var known = Set(declarations.output.split(separator: "\n").compactMap { $0.split(separator: " ").last })
        known.insert("AsyncParsableCommand")
        // Two words at least: `Host` and `SERIALIZABLE` are not ours.
        let named = Set(
            MarkdownDocument.words(document.prose).compactMap {
                $0.prefixMatch(of: /[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+(?![A-Za-z])/)?.output
            })
        #expect(named.count > 50)
        for name in named where !known.contains(name) {
            let isFolder = [SourceFile.folder(of: String(name)), "Tests/\(name)"].contains { folder in
                FileManager.default.fileExists(atPath: RunningService.root.appending(path: folder).path)
            }
            #expect(isFolder, "\(name)")
        }
    }

    @Test("shows the imports of each target as the dependency rule allows them")
    func imports() throws {
        for row in MarkdownDocument.rows(document.section("Targets")) {
            for target in MarkdownDocument.words(row[0]) {
                guard let allowed = DependencyRuleTests.allowed[target], !row[2].contains("all above") else { continue }
                let shown = Set(MarkdownDocument.words(row[2]))
                let ours = allowed.filter { !["COpenSSL", "CPostgreSQL", "CJWT"].contains($0) }
                #expect(shown == ours, "\(target)")
            }
        }
    }
}
