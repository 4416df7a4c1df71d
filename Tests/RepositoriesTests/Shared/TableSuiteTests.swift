import Database
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Suites of tables")
struct TableSuiteTests {
    @Test("Every table of the schema has a suite here, which names it", arguments: StoreKind.shared)
    func coverage(kind: StoreKind) async throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var named: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            where line.hasPrefix("@Suite(\"Table") {
                named.formUnion(line.split { !($0.isLetter || $0 == "_") }.map(String.init))
            }
        }
        let tables = try await withStore(kind, migrations: Schema.migrations) { try await $0.tables().map(\.name) }
        #expect(tables.count > 35)
        for table in tables where table != "schema_migrations" {
            #expect(named.contains(table), "no suite names \(table)")
        }
    }
}
