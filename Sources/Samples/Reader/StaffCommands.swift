import Foundation
import Hummingbird
import SampleBackend

/// Staff's commands, on the machine of the store.
struct StaffCommands: Sendable {
    let sample: Sample
    let store: ReaderStore
    let months: Months

    private var staff: String { "staff \(NSUserName())" }

    /// `reader provision --csv FILE`: creates people, all or none, and prints a code for each new one. Staff give
    /// people the codes, which let them set a password.
    func provision() async throws {
        var known: Set<String> = []
        let people = try records(Person.fields) { record in
            let person = try Person(record)
            guard known.insert(person.username).inserted else {
                throw HTTPError(.badRequest, message: "the username occurs twice")
            }
            return person
        }
        let issued = try await explaining { try await store.provision(people, by: staff) }
        write(CSV.write([["username", "code"]] + issued.map { [$0.username, $0.code] }))
    }

    /// `reader rename --csv FILE`: changes user names, all or none.
    func rename() async throws {
        let names = try records(["username", "new_username"]) { record in
            (
                from: (record["username"] ?? "").lowercased(),
                to: try Person.parse(record["new_username"], "username")
            )
        }
        try await explaining { try await store.rename(names, by: staff) }
        write(CSV.write([["username", "new_username"]] + names.map { [$0.from, $0.to] }))
    }

    private func explaining<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch let conflict as ReaderStore.NameConflict {
            throw Options.Malformed(reason: conflict.reason)
        }
    }

    /// The records of the file that `--csv` names.
    private func records<Row>(_ columns: [String], _ parse: ([String: String]) throws -> Row) throws -> [Row] {
        _ = try required("--csv")
        guard let text = String(data: try sample.file("--csv"), encoding: .utf8) else {
            throw Options.Malformed(reason: "the file is not UTF-8")
        }
        do {
            let records = try CSV.read(text)
            if let first = records.first, Set(first.keys) != Set(columns) {
                throw CSV.Malformed(description: "the columns are \(columns.joined(separator: ","))")
            }
            return try records.enumerated().map { index, record in
                do {
                    return try parse(record)
                } catch let error as HTTPError {
                    throw CSV.Malformed(description: "record \(index + 2): \(error.body ?? "")")
                }
            }
        } catch let error as CSV.Malformed {
            throw Options.Malformed(reason: "\(error)")
        }
    }

    /// `reader reset --username NAME`: deletes the password, ends the person's sessions at Countersign, and prints a
    /// code.
    func resetPassword() async throws {
        let username = try required("--username").lowercased()
        let countersign = try CountersignCalls(sample)
        guard let (id, code) = try await store.resetPassword(of: username, by: staff) else {
            throw Options.Malformed(reason: "unknown username \(username)")
        }
        // The password is deleted in any case. If the code is not printed, the next reset replaces it.
        try await countersign.endSessions(of: id)
        write(CSV.write([["username", "code"], [username, code]]))
    }

    /// `reader changes [--username NAME]`: the changes of personal data, newest first.
    func printChanges() async throws {
        var id: String?
        if !sample.options["--username"].isEmpty {
            id = try await store.id(of: try required("--username").lowercased())
            guard id != nil else { throw Options.Malformed(reason: "unknown username") }
        }
        let rows = try await store.changes(of: id).map { change in
            let time = Date(timeIntervalSince1970: TimeInterval(change.at)).formatted(.iso8601)
            return [time, change.username, change.field, change.before, change.after, change.by]
        }
        write(CSV.write([["time", "username", "field", "before", "after", "by"]] + rows))
    }

    /// `reader report --month 2026-11`: the hours of all readers for the grantor.
    func printReport() async throws {
        let month = try months.span(sample.options["--month"].isEmpty ? nil : sample.options["--month"])
        let totals = try await store.totals(month.span)
        let rows = totals.map { total in
            [
                month.name, total.name, total.username, "\(total.sessions)", "\(total.articles)",
                Self.hours(total.seconds),
            ]
        }
        let sum = totals.reduce(0) { $0 + $1.seconds }
        let all = [
            month.name, "all", "", "\(totals.reduce(0) { $0 + $1.sessions })",
            "\(totals.reduce(0) { $0 + $1.articles })", Self.hours(sum),
        ]
        write(CSV.write([["month", "name", "username", "sessions", "articles", "hours"]] + rows + [all]))
    }

    /// `reader recordings --month 2026-11`: the recordings, and where each is.
    func printRecordings() async throws {
        let month = try months.span(sample.options["--month"].isEmpty ? nil : sample.options["--month"])
        let rows = try await store.recordings(month.span).map { found in
            let state = found.storedAt != nil ? "stored" : found.name != nil ? "received" : "incomplete"
            return [
                Date(timeIntervalSince1970: TimeInterval(found.createdAt)).formatted(.iso8601), found.username,
                found.title, "\(found.length)", state, found.name ?? "", found.sha256 ?? "",
            ]
        }
        write(CSV.write([["time", "username", "title", "bytes", "state", "name", "sha256"]] + rows))
    }

    private static func hours(_ seconds: Int) -> String { String(format: "%.2f", Double(seconds) / 3600) }

    private func required(_ option: String) throws -> String {
        guard !sample.options[option].isEmpty else { throw Options.Malformed(reason: "\(option) is missing") }
        return sample.options[option]
    }

    private func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
}

/// The grantor's months, in the library's time zone.
struct Months: Sendable {
    private let calendar: Calendar

    init(zone: String) throws {
        guard let zone = TimeZone(identifier: zone) else {
            throw Options.Malformed(reason: "--zone is not a known time zone")
        }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        self.calendar = calendar
    }

    /// The seconds since 1970 in which a month (`2026-11`) begins and ends; `nil` for the current month.
    ///
    /// - Throws: `400`.
    func span(_ month: String?) throws -> (name: String, span: Range<Int64>) {
        var parts = calendar.dateComponents([.year, .month], from: Date())
        if let month {
            guard let match = month.wholeMatch(of: /(2[0-9]{3})-(0[1-9]|1[0-2])/) else {
                throw HTTPError(.badRequest, message: "a month must have the form 2026-11")
            }
            parts = DateComponents(year: Int(match.1), month: Int(match.2))
        }
        guard let start = calendar.date(from: DateComponents(year: parts.year, month: parts.month)),
            let end = calendar.date(byAdding: .month, value: 1, to: start), let year = parts.year,
            let number = parts.month
        else { throw HTTPError(.badRequest, message: "the month does not exist") }
        let name = "\(year)-\(number < 10 ? "0" : "")\(number)"
        return (name, Int64(start.timeIntervalSince1970)..<Int64(end.timeIntervalSince1970))
    }
}
