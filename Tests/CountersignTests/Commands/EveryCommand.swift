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

    /// Whether it has an argument that may be left out.
    var hasOptionalArgument: Bool {
        let dumped = try? JSONSerialization.jsonObject(with: Data(type._dumpHelp().utf8)) as? [String: Any]
        let arguments = (dumped?["command"] as? [String: Any])?["arguments"] as? [[String: Any]] ?? []
        return arguments.contains { $0["kind"] as? String == "positional" && $0["isOptional"] as? Bool == true }
    }

    /// The words of the example on its help page, without what the shell takes; `nil` if the page has none.
    var example: [String]? {
        let lines = type.configuration.discussion.split(separator: "\n").suffix(2)
        let start = "  countersign "
        guard lines.first == "Example:", let line = lines.last, line.hasPrefix(start) else { return nil }
        return CommandTests.words(String(line.dropFirst(start.count)).components(separatedBy: " > ")[0])
    }

    /// The options that take the id of an object, by the words of their help, and those that continue a list.
    var namingOptions: [CommandDescription.Option] {
        options.filter { option in
            option.valueName != nil
                && (option.names.contains("cursor") || option.help.contains(/\b(?:the|its|an|own|this|or) id\b/))
        }
    }

    /// The options that take a duration or a time, by the words of their help. The parser does not tell types of values.
    var timeOptions: [CommandDescription.Option] {
        options.filter { option in
            let words = /\b(?:time|duration|Maximum age|The end|since|until)\b|\b[0-9]+(?:ms|s|m|h|d)\b/
            return option.valueName != nil && option.help.contains(words)
        }
    }

    /// The names of the options whose type is the id of an object, by the properties of the example's command.
    func typedOptions() throws -> Set<String> {
        guard let example else { return [] }
        return Self.typedOptions(in: try CommandLineWords.parse(example), depth: 0)
    }

    private static func typedOptions(in value: Any, depth: Int) -> Set<String> {
        guard depth < 6 else { return [] }
        var names: Set<String> = []
        for child in Mirror(reflecting: value).children {
            let type = String(describing: Swift.type(of: child.value))
            if let label = child.label, type.hasPrefix("Option<"), type.contains("TypedID<") {
                // The property wrapper of `withDevice` is `_withDevice`, its option `with-device`.
                names.insert(String(label.dropFirst()).replacing(/[A-Z]/) { "-" + $0.output.lowercased() })
            } else {
                names.formUnion(typedOptions(in: child.value, depth: depth + 1))
            }
        }
        return names
    }
}
