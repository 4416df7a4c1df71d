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
    @Flag(help: "Continue with each one as it comes, until interrupted; with --json one value a line.")
    var follow = false

    func validate() throws {
        guard (0...10_000).contains(limit) else { throw ValidationError("--limit takes 0 to 10000.") }
    }

    func run() async throws {
        var file = TextLines(path: try texts ?? Settings.resolve(shared: shared).texts)
        let known = file.next().compactMap(InboxEntry.init).filter(isWanted).suffix(limit)
        if !follow {
            guard !shared.json else { return Output.json(.array(known.map(\.json))) }
            if known.isEmpty { Output.note("There is no text in \(file.path).") }
            return Output.table(known.map(\.row))
        }
        for entry in known { show(entry) }
        while !Task.isCancelled {
            for entry in file.next().compactMap(InboxEntry.init).filter(isWanted) { show(entry) }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private func isWanted(_ entry: InboxEntry) -> Bool { to == nil || entry.to == to }

    private func show(_ entry: InboxEntry) {
        if shared.json { Output.json(entry.json) } else { Output.table([entry.row]) }
    }
}

/// One line of the file of texts.
struct InboxEntry {
    let at: String
    let to: String
    /// The text, or the word of why there is none.
    let content: Content

    enum Content: Equatable {
        case text(String)
        case withheld(String)
    }

    init?(_ line: [UInt8]) {
        guard let value = try? StrictJSON.parse(line), let to = value["to"]?.text else { return nil }
        self.to = to
        at = (value["sent_at"] ?? value["at"])?.text ?? "-"
        if let text = value["text"]?.text {
            content = .text(text)
        } else if let cause = value["withheld"]?.text {
            content = .withheld(cause)
        } else {
            return nil
        }
    }

    var row: [String] {
        switch content {
        // A text has lines for autofill.
        case .text(let text): [at, to, text.split(separator: "\n").joined(separator: " ")]
        case .withheld(let cause): [at, to, "NO TEXT (\(cause)): \(Self.mend(cause))"]
        }
    }

    var json: JSONValue {
        switch content {
        case .text(let text): .object(["at": .string(at), "to": .string(to), "text": .string(text)])
        case .withheld(let cause):
            .object([
                "at": .string(at), "to": .string(to), "withheld": .string(cause), "mend": .string(Self.mend(cause)),
            ])
        }
    }

    /// What to look at if a text was withheld for a cause.
    static func mend(_ cause: String) -> String {
        guard let reason = WithheldReason(rawValue: cause) else {
            return "its verification is still open: use the code of the text before, or resend it."
        }
        return switch reason {
        case .country: "its country is not among `countries` in phones.yaml."
        case .type: "its kind of number is among `refused_types` in phones.yaml."
        case .frozen: "the user gave too many wrong codes for it: see `freeze` in phones.yaml."
        case .numberLimit: "the number's own limits: see `sends_per_hour_per_number` in phones.yaml."
        case .prefixLimit: "its block of numbers got too many texts without a right code: see phones.yaml."
        case .groupLimit: "new accounts of its network got too many texts without a right code: see phones.yaml."
        case .prefixThinned, .providerThinned, .countryThinned:
            "texts are thinned out: see `countersign texts list`."
        case .spendCeiling: "the day's spending is used up: see `spend_per_day` in phones.yaml."
        }
    }
}

/// The lines of a file that grows.
private struct TextLines {
    let path: String
    private var offset: UInt64?
    private var rest: [UInt8] = []

    init(path: String) { self.path = path }

    /// How much of an old file is read, bytes.
    private static let lookback: UInt64 = 1_048_576

    /// The whole lines that have come since the last call; of an old file those near its end.
    mutating func next() -> [[UInt8]] {
        guard let handle = FileHandle(forReadingAtPath: path), let end = try? handle.seekToEnd() else { return [] }
        // A file that is shorter than it was is another one.
        if let offset, offset > end { (self.offset, rest) = (0, []) }
        let start = offset ?? (end > Self.lookback ? end - Self.lookback : 0)
        guard (try? handle.seek(toOffset: start)) != nil, let data = try? handle.readToEnd() else { return [] }
        offset = start + UInt64(data.count)
        var lines = (rest + data).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
        rest = lines.popLast() ?? []
        return lines
    }
}
