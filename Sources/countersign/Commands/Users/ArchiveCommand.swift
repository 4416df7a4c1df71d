import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations

extension UserCommand {
    /// `countersign user archive`.
    struct Archive: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Writes the verified users into a file that only its recipients can open, with `age --decrypt`.",
            discussion: """
                One JSON object a line. Archived rows are marked after the file is durable. Later archives omit them \
                until their user proves something new. The access is written into the audit log.
                """)
        @OptionGroup var shared: SharedOptions
        @Option(help: "From when on users were verified: 2026-01-31 or 2026-01-31T23:59:59Z.") var since: String
        @Option(help: "A recipient, a public key of age (age1…); may be repeated.") var recipient: [String]
        @Option(help: "The file to write; it must not exist.") var output: String
        @Flag(help: "Include the rows of earlier archives.") var again = false
        @Flag(help: "Then drop what `purge` in cards.yaml names from the archived rows.") var purge = false

        func run() async throws {
            guard let moment = Self.moment(since) else {
                throw CommandFailure(
                    "--since takes a day or a moment in UTC, 2026-01-31 or 2026-01-31T23:59:59Z.", exitCode: .usage)
            }
            guard recipient.count <= 20 else {
                throw CommandFailure("--recipient may be given 20 times at most.", exitCode: .usage)
            }
            let recipients = try recipient.map { text throws(CommandFailure) in try AgeRecipient(text) }
            let settings = try Settings.resolve(shared: shared)
            let policy = try PolicyFiles.load(directory: settings.policies, required: settings.policiesNamed)
            let done = try await Admin.run(shared) { admin in
                let archive = try ArchiveUsers(admin.context, keys: admin.personalKeys())
                let file = try ArchiveFile(path: output)
                do {
                    var writer = try AgeWriter(recipients: recipients, randomBytes: admin.environment.randomBytes) {
                        try file.write($0)
                    }
                    let written = try await archive.write(
                        since: moment, again: again, recipients: recipients.map(\.text)
                    ) { try writer.write($0.utf8) }
                    try writer.finish()
                    try file.finish()
                    return (
                        written,
                        marked: try await archive.mark(written, purging: purge ? Set(policy.cards.purge) : [])
                    )
                } catch {
                    file.discard()
                    throw error
                }
            }
            report(done.0, marked: done.marked)
        }

        private func report(_ written: ArchiveUsers.Written, marked: Int) {
            let id = written.id.uuidString.lowercased()
            if written.unreadable > 0 {
                Output.note(
                    "\(written.unreadable) rows could not be opened: they are neither in the archive nor marked.")
            }
            if shared.json {
                Output.json(
                    .object([
                        "archive_id": .string(id), "users": .integer(Int64(written.count)),
                        "marked": .integer(Int64(marked)), "unreadable": .integer(Int64(written.unreadable)),
                        "purged": .bool(purge), "output": .string(output),
                    ]))
            } else {
                Output.table([
                    ["archive", id], ["users", "\(written.count)"], ["marked", "\(marked)"],
                    ["purged", purge ? "yes" : "no"], ["output", output],
                ])
            }
        }

        /// Parses a day (its first moment) or a point in time, both in UTC; `nil` for anything else.
        static func moment(_ text: String) -> Date? {
            if let day = CalendarDate(text) { return day.start }
            let bytes = Array(text.utf8)
            guard bytes.count == 20, bytes[10] == UInt8(ascii: "T"), bytes[19] == UInt8(ascii: "Z"),
                bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
                let day = CalendarDate(String(decoding: bytes[..<10], as: UTF8.self))
            else { return nil }
            let clock = [bytes[11..<13], bytes[14..<16], bytes[17..<19]].compactMap { digits -> Int? in
                digits.allSatisfy { (0x30...0x39).contains($0) } ? Int(String(decoding: digits, as: UTF8.self)) : nil
            }
            guard clock.count == 3, clock[0] < 24, clock[1] < 60, clock[2] < 60 else { return nil }
            return day.start.addingTimeInterval(TimeInterval(clock[0] * 3600 + clock[1] * 60 + clock[2]))
        }
    }
}
