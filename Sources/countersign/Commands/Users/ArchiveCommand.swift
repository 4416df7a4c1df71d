import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations

extension UserCommand {
    struct Archive: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write the verified users into a file that only its recipients can open, with `age --decrypt`.",
            discussion: """
                The file has one JSON object a line. Archived rows are marked after the file is durable. Later \
                archives omit them until their user proves something new. The access is recorded in the audit log.
                """,
            example: "user archive --since 2026-01-01 --recipient age1… --output v.age")
        @OptionGroup var shared: SharedOptions
        @Option(help: "The earliest time of verification: 2026-01-31 or 2026-01-31T23:59:59Z.") var since: String
        @Option(help: "A recipient, a public key of age (age1…); may be repeated.") var recipient: [String]
        @Option(help: "The file to write; it must not exist.") var output: String
        @Flag(help: "Include the rows of earlier archives.") var again = false
        @Flag(help: "Delete the values that `purge` in cards.yaml names from the archived rows.") var purge = false

        func report(_ admin: Admin) async throws -> Report {
            guard let moment = Self.moment(since) else {
                throw CommandFailure(
                    "--since must be a day or a moment in UTC, 2026-01-31 or 2026-01-31T23:59:59Z.", exitCode: .usage)
            }
            guard recipient.count <= 20 else {
                throw CommandFailure("--recipient may be given at most 20 times.", exitCode: .usage)
            }
            let recipients = try recipient.map { text throws(CommandFailure) in try AgeRecipient(text) }
            let purged = Set(try admin.policy().cards.purge)
            let archive = try ArchiveUsers(admin.administration, keys: admin.personalKeys())
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
                let marked = try await archive.mark(written, purging: purge ? purged : [])
                return report(written, marked: marked)
            } catch {
                file.discard()
                throw error
            }
        }

        private func report(_ written: ArchiveUsers.Written, marked: Int) -> Report {
            Report([
                Entry("archive_id", "archive", written.id.uuidString.lowercased()), Entry("users", written.count),
                Entry("marked", marked), .json("unreadable", written.unreadable), Entry("purged", purge),
                Entry("output", output),
            ]).noting(
                written.unreadable > 0
                    ? "Rows that could not be opened, and are neither archived nor marked: \(written.unreadable)." : nil
            )
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
