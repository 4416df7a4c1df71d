import ArgumentParser
import Domain
import Foundation

/// The part of a list to show.
struct PageOptions: ParsableArguments {
    @Option(help: "Maximum number of rows.") var limit = 50
    @Option(help: "Start after this id (the last one of the previous page).") var cursor: String?

    func validate() throws {
        guard (1...100_000).contains(limit) else { throw ValidationError("--limit must be 1 to 100000.") }
    }

    /// ``cursor`` of a list whose cursors are ids.
    func identifier<Kind>() throws(CommandFailure) -> Identifier<Kind>? {
        guard let cursor else { return nil }
        guard let id = Identifier<Kind>(cursor) else {
            throw CommandFailure(
                "--cursor must be an id from the list: give the last one of the previous page.", exitCode: .usage)
        }
        return id
    }

    /// The report of a page. It says if there are no rows, and on a terminal how to get the next ones.
    ///
    /// - Parameter fields: the first one contains what `--cursor` takes.
    func report<Row>(_ rows: [Row], _ fields: [Field<Row>]) -> Report {
        let none = cursor.map { "There is nothing to list after \(Refusal.quoted($0))." }
        var report = none.map { Report(rows, fields, none: $0) } ?? Report(rows, fields)
        guard rows.count >= limit, let last = rows.last.flatMap({ fields.first?.entry($0).cell.text }) else {
            return report
        }
        report.hint = "Shown: \(rows.count). For more, add --cursor \(last.contains(" ") ? "\"\(last)\"" : last)."
        return report
    }
}
