import ArgumentParser
import Domain
import Encoding
import Foundation

/// `countersign inbox`: what the file sender wrote, for developers.
struct InboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inbox",
        abstract: "Shows the texts of the file sender, and in development mode why one did not come.")
    @OptionGroup var shared: SharedOptions
    @Option(help: "The file of the file sender (COUNTERSIGN_TEXTS; default texts.jsonl beside the store).")
    var texts: String?
    @Option(help: "Only those to this number, in its international form.") var to: String?
    @Option(help: "How many.") var limit = 10
    @Option(help: "Only those before this one, the first of the page before.") var cursor: UInt64?
    @Flag(help: "Continue with each one as it comes, until interrupted; with --json one value a line.")
    var follow = false

    func validate() throws {
        guard (0...10_000).contains(limit) else { throw ValidationError("--limit takes 0 to 10000.") }
        guard cursor == nil || !follow else {
            throw ValidationError("--follow begins at the newest, without --cursor.")
        }
    }

    func run() async throws {
        let file = InboxFile(path: try texts ?? Settings.resolve(shared: shared).texts)
        let page = file.last(limit, before: cursor, where: isWanted)
        guard follow else { return list(page.entries, of: file) }
        for entry in page.entries { show(entry) }
        var lines = GrowingFile(path: file.path, offset: page.end)
        while !Task.isCancelled {
            for entry in lines.next().compactMap(InboxEntry.init).filter(isWanted) { show(entry) }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private func list(_ entries: [InboxEntry], of file: InboxFile) {
        guard !shared.json else { return Output.json(.array(entries.map(\.json))) }
        if entries.isEmpty {
            Output.note("There is no text\(cursor == nil ? "" : " before that one") in \(file.path).")
        }
        Output.table(entries.map(\.row))
        guard let first = entries.first, first.offset > 0, entries.count >= limit, isatty(STDERR_FILENO) == 1 else {
            return
        }
        Output.note("The last \(entries.count) are shown: --cursor \(first.offset) shows those before.")
    }

    private func isWanted(_ entry: InboxEntry) -> Bool { to == nil || entry.to == to }

    private func show(_ entry: InboxEntry) {
        if shared.json { Output.json(entry.json) } else { Output.table([entry.row]) }
    }
}
