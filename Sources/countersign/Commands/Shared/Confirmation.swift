import Foundation

/// The question before a command with large effects.
enum Confirmation {
    /// Asks on a terminal whether to continue.
    ///
    /// - Parameter effect: what the command will do, such as `affect 3 users`.
    /// - Throws: ``CommandFailure`` for any answer except yes, and without a terminal.
    static func ask(_ effect: String) throws(CommandFailure) {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
            throw CommandFailure("This would \(effect): preview with --dry-run, then add --yes.")
        }
        Output.note("This will \(effect). Type yes to continue.")
        guard readLine() == "yes" else { throw CommandFailure("Nothing was changed.") }
    }
}
