import ArgumentParser
import Foundation

@testable import countersign

/// A command that does something, with its words and its example. New commands are found by themselves.
struct EveryCommand: CustomStringConvertible {
    let path: [String]
    let type: any ParsableCommand.Type

    var description: String { path.joined(separator: " ") }

    /// All commands without subcommands.
    static var all: [EveryCommand] { below(Countersign.self, []).filter { $0.type.configuration.subcommands.isEmpty } }

    /// All commands and groups.
    static var pages: [EveryCommand] { below(Countersign.self, []) }

    private static func below(_ type: any ParsableCommand.Type, _ path: [String]) -> [EveryCommand] {
        [EveryCommand(path: path, type: type)]
            + type.configuration.subcommands.flatMap { below($0, path + [$0._commandName]) }
    }

    var options: [CommandDescription.Option] { CommandDescription(type)?.options ?? [] }

    /// The words of the example on its help page, without what the shell takes; `nil` if the page has none.
    var example: [String]? {
        let lines = type.configuration.discussion.split(separator: "\n").suffix(2)
        let start = "  countersign "
        guard lines.first == "Example:", let line = lines.last, line.hasPrefix(start) else { return nil }
        return CommandTests.words(String(line.dropFirst(start.count)).components(separatedBy: " > ")[0])
    }

    /// The example without an option and its value.
    func example(without name: String) -> [String] {
        var words = example ?? []
        while let place = words.firstIndex(of: "--" + name) {
            words.removeSubrange(place..<min(place + 2, words.count))
        }
        return words
    }
}
