import ArgumentParser
import Domain
import Encoding
import Foundation
import PhoneNumbers

/// `countersign inbox`: the texts that the file sender wrote, for developers.
struct InboxCommand: InstallationCommand {
    static let configuration = CommandConfiguration(
        commandName: "inbox",
        abstract: "Show the texts of the file sender, and in development mode why one was not sent.",
        example: "inbox --to +12025550100 --follow")
    @OptionGroup var shared: SharedOptions
    @Option(help: "The file of the file sender (COUNTERSIGN_TEXTS; default texts.jsonl beside the store).")
    var texts: String?
    @Option(help: "The number that the texts were sent to, in its international form.") var to: String?
    @Option(help: "Maximum number of texts.") var limit = 10
    @Option(help: "End before this id (the first one of the previous page).") var cursor: UInt64?
    @Flag(help: "Continue with each new text until interrupted; with --json one value a line.")
    var follow = false

    func validate() throws {
        guard (follow ? 0...10_000 : 1...10_000).contains(limit) else {
            throw ValidationError("--limit must be 1 to 10000, or 0 with --follow.")
        }
        _ = try wanted()
        guard cursor == nil || !follow else {
            throw ValidationError("--follow starts at the newest text. Remove --cursor.")
        }
    }

    func report(on installation: Installation) async throws -> Report {
        let file = InboxFile(path: texts ?? installation.settings.texts)
        let number = try wanted()
        let isWanted = { (entry: InboxEntry) in number == nil || entry.to == number }
        let page = file.last(limit, before: cursor, where: isWanted)
        guard follow else { return report(page.entries, to: number, of: file) }
        if !file.exists { note(Self.missing(file)) }
        for entry in page.entries { show(entry.report) }
        var lines = GrowingFile(path: file.path, offset: page.end)
        while !Task.isCancelled {
            for entry in lines.next().compactMap(InboxEntry.init).filter(isWanted) { show(entry.report) }
            try await Task.sleep(for: .milliseconds(200))
        }
        return .shown
    }

    private func report(_ entries: [InboxEntry], to number: String?, of file: InboxFile) -> Report {
        var report = Report(entries.map(\.report))
        if entries.isEmpty {
            guard file.exists else { return report.noting(Self.missing(file)) }
            let place = (number.map { " to \($0)" } ?? "") + (cursor == nil ? "" : " before that id")
            report = report.noting("There is no text\(place) in \(file.path).")
        }
        if let first = entries.first, first.offset > 0, entries.count >= limit {
            report.hint = "Shown: the last \(entries.count). For earlier ones, add --cursor \(first.offset)."
        }
        return report
    }

    private static func missing(_ file: InboxFile) -> String {
        "There is no file \(file.path). The service writes it with its first text, if it was started with --development "
            + "or the file sender. Name another file with --texts."
    }

    /// The number of `--to` as the file has it; `nil` for all.
    private func wanted() throws -> String? {
        guard let to else { return nil }
        do throws(Refusal) {
            return try PhoneNumber(fromCaller: to).e164
        } catch {
            throw ValidationError("--to: \(error.detail)")
        }
    }
}
