import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Columns")
struct ColumnTests {
    private struct Both: ColumnSet {
        let count: Column<Int>
        let session: SessionColumns
        let user: UserColumns

        init(_ list: inout ColumnList) {
            count = list.add("COUNT(*)")
            session = list.add(SessionColumns.self, of: "s")
            user = list.add(UserColumns.self, of: "u")
        }
    }

    @Test("A joined table's columns follow those before them, under its short name")
    func joined() {
        let columns = Selection(Both.self)
        #expect(columns.each.count.index == 0)
        #expect(columns.each.session.id.index == 1)
        #expect(columns.each.user.id.index == 15)
        #expect(columns.description.hasPrefix("COUNT(*), s.id, s.token_hash, "))
        #expect(columns.description.hasSuffix(", u.created_at, u.profile_index"))
    }

    @Test("What is written alone comes behind the rest, and is not read")
    func written() {
        let columns = Selection(UserColumns.self)
        #expect(
            columns.description == "id, provider_id, external_id, assurance, assurance_until, created_at, profile_index"
        )
        #expect(columns.all == columns.description + ", held")
        #expect(columns.placeholders == "$1, $2, $3, $4, $5, $6, $7, $8")
    }

    @Test("A row's values are in the order of the list, whatever order they are set in; the others are null")
    func rows() {
        let columns = Selection(UserColumns.self)
        let row = columns.row { column, row in
            row.set(column.held, true)
            row.set(column.externalID, "ada")
        }
        #expect(row == [.null, .null, .text("ada"), .null, .null, .null, .null, .integer(1)])
    }

    @Test("No repository reads a column by a number or counts its parameters")
    func sources() throws {
        let files = try SourceFile.all(below: "Sources/Repositories").filter {
            !$0.path.hasPrefix("Cluster/") && $0.name != "ColumnContent.swift"
        }
        #expect(files.count > 40)
        for file in files {
            for pattern in [
                #"(row|\$0)\.(value|integer|real|text|bytes|bool)(OrNull)?\([0-9]"#, #"VALUES \(\$1,"#,
            ] {
                #expect(file.text.range(of: pattern, options: .regularExpression) == nil, "\(file.path): \(pattern)")
            }
        }
    }
}
