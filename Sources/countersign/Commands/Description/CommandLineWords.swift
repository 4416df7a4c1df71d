import ArgumentParser

/// The words of a command line, checked before they are parsed.
///
/// The parser keeps the last value of an option that is given twice. A ban of two users would then ban one. So an option
/// that cannot be repeated is refused the second time, by the command's own description. A new option needs nothing.
enum CommandLineWords {
    /// Parses a command line.
    ///
    /// - Parameter words: the command line without the program's name.
    /// - Throws: ``CommandFailure`` for an option that is given twice; the parser's errors.
    static func parse(_ words: [String]) throws -> any ParsableCommand {
        if let option = repeatedOption(words) {
            throw CommandFailure(
                "\(option) was given more than once: give it once, and run the command again for another value.",
                exitCode: .usage)
        }
        let (command, rest) = command(words)
        // The parser describes each command of a tree before it reads a word, which took most of the time of a short
        // command. A request for help is another type. Help and errors name the whole command line.
        if command.configuration.subcommands.isEmpty, let parsed = try? command.parseAsRoot(Array(rest)),
            type(of: parsed) == command
        {
            return parsed
        }
        return try Countersign.parseAsRoot(words)
    }

    /// The command that the first words name, or the last group if they name none, and the words that follow.
    private static func command(_ words: [String]) -> (any ParsableCommand.Type, ArraySlice<String>) {
        var command: any ParsableCommand.Type = Countersign.self
        var rest = words[...]
        while let word = rest.first,
            let next = command.configuration.subcommands.first(where: { $0._commandName == word })
        {
            command = next
            rest = rest.dropFirst()
        }
        return (command, rest)
    }

    /// The first option that is given twice and has one value; `nil` if there is none.
    private static func repeatedOption(_ words: [String]) -> String? {
        // After "--" all words are arguments. A value cannot begin with hyphens.
        let names = words.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }.map {
            $0.prefix { $0 != "=" }.dropFirst(2)
        }
        var seen: Set<Substring> = []
        let twice = names.filter { !seen.insert($0).inserted }
        // The description takes a few milliseconds, so it is made only if something was repeated.
        guard !twice.isEmpty else { return nil }
        // A flag that is given twice means the same.
        let options = CommandDescription(command(words).0)?.options ?? []
        let once = options.filter { !$0.isRepeating && $0.valueName != nil }.flatMap(\.names)
        return twice.first { once.contains(String($0)) }.map { "--\($0)" }
    }
}
