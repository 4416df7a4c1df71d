import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Columns")
struct ColumnTests {
    private struct Note: Sendable, Equatable {
        let id: String
        let size: Int
        let text: String?
    }

    private static let notes = Table<Note>(
        "notes", Note.init,
        Field("id", \.id),
        Field("size", \.size) { "\($0).size + 1" },
        Field("text", \.text))

    @Test("A table's statements derive from its list of columns")
    func statements() {
        let notes = Self.notes
        #expect("\(notes)" == "id, notes.size + 1, text")
        #expect(notes.insertion == "INSERT INTO notes (id, size, text) VALUES ($1, $2, $3)")
        #expect(
            notes.insertion(with: "at", "by")
                == "INSERT INTO notes (id, size, text, at, by) VALUES ($1, $2, $3, $4, $5)")
        #expect(
            notes.insertion(with: "at") { "abs(\($0))" }
                == "INSERT INTO notes (id, size, text, at) VALUES ($1, $2, $3, abs($4))")
        #expect(notes.overwriting(except: ["id"]) == "size = excluded.size, text = excluded.text")
    }

    @Test("A value is written and read in the order of the list, whatever follows it")
    func values() throws {
        let note = Note(id: "a", size: 2, text: nil)
        #expect(Self.notes.row(note) == [.text("a"), .integer(2), .null])
        let row = Self.notes.row(note, .integer(7))
        #expect(row == [.text("a"), .integer(2), .null, .integer(7)])
        #expect(try Self.notes.read(Row(row)) == note)
    }

    @Test("A joined table's columns follow those before them, under its alias")
    func joined() throws {
        let both = ColumnTuple(Column<Int>("COUNT(*)"), Self.notes.of("n"), Column<Bool>("n.is_new"))
        #expect("\(both)" == "COUNT(*), n.id, n.size + 1, n.text, n.is_new")
        let (count, note, isNew) = try both.read(Row([3, "a", 2, "x", true]))
        #expect(count == 3)
        #expect(note == Note(id: "a", size: 2, text: "x"))
        #expect(isNew)
    }

    @Test("A joined tuple of columns is read as one value")
    func joinedTuple() throws {
        let columns = ColumnTuple(Column<String>("kind"), Column<Int>("size"))
        let both = ColumnTuple(columns.of("n"), Column<Int>("COUNT(*)"))
        #expect("\(both)" == "n.kind, n.size, COUNT(*)")
        let ((kind, size), count) = try both.read(Row(["x", 2, 3]))
        #expect(kind == "x")
        #expect(size == 2)
        #expect(count == 3)
    }

    @Test("A table of which a LEFT JOIN finds no row is nil, and the columns after it are read")
    func notFound() throws {
        let both = ColumnTuple(Self.notes.of("n").ifFound, Column<Int>("COUNT(*)"))
        let (note, count) = try both.read(Row([nil, nil, nil, 4]))
        #expect(note == nil)
        #expect(count == 4)
        #expect(throws: (any Error).self) { try both.read(Row(["a", nil, nil, 4])) }
    }

    @Test("A column that is read if it is readable is nil if it is damaged")
    func damaged() throws {
        let both = ColumnTuple(Column<Int>("sequence"), Self.notes.of("n").ifReadable)
        let (sequence, note) = try both.read(Row([5, "a", "no number", nil]))
        #expect(sequence == 5)
        #expect(note == nil)
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
