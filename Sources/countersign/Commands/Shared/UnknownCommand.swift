import ArgumentParser

/// The sentence about a command that does not exist, with the one that was probably meant.
enum UnknownCommand {
    /// Follows the words of a command line down the tree of commands.
    ///
    /// - Parameter arguments: the command line without the program's name.
    /// - Returns: `nil` if every word up to the first option names a command, or is an argument of one.
    static func sentence(_ arguments: [String]) -> String? {
        var (command, path): (any ParsableCommand.Type, [String]) = (Countersign.self, ["countersign"])
        for word in arguments {
            let subcommands = command.configuration.subcommands
            guard !subcommands.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
            path.append(word)
            if let next = subcommands.first(where: { $0._commandName == word }) {
                command = next
                continue
            }
            let names = subcommands.map { $0._commandName }
            let unknown = "unknown command '\(path.joined(separator: " "))'"
            guard let near = UnknownKey.nearest(to: word, among: names) else {
                return "\(unknown); known: \(names.sorted().joined(separator: ", "))"
            }
            return "\(unknown); did you mean '\((path.dropLast() + [near]).joined(separator: " "))'?"
        }
        return nil
    }
}
