import ArgumentParser
import Foundation

/// A command as the parser describes it.
struct CommandDescription {
    struct Option {
        /// The long names, without hyphens.
        let names: [String]
        let isRepeating: Bool
        /// The name of its value in help texts; `nil` for a flag.
        let valueName: String?
        let help: String
    }

    let options: [Option]

    init?(_ command: any ParsableCommand.Type) {
        guard let dumped = try? JSONDecoder().decode(Dumped.self, from: Data(command._dumpHelp().utf8)) else {
            return nil
        }
        options = (dumped.command.arguments ?? []).filter { $0.kind != "positional" }.map { argument in
            Option(
                names: (argument.names ?? []).filter { $0.kind == "long" }.map(\.name),
                isRepeating: argument.isRepeating, valueName: argument.kind == "flag" ? nil : argument.valueName,
                help: argument.abstract ?? "")
        }
    }

    private struct Dumped: Decodable {
        let command: Command

        struct Command: Decodable {
            let arguments: [Argument]?
        }

        struct Argument: Decodable {
            let kind: String
            let isRepeating: Bool
            let names: [Name]?
            let valueName: String?
            let abstract: String?
        }

        struct Name: Decodable {
            let kind: String
            let name: String
        }
    }
}
