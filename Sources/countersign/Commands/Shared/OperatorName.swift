import Foundation

/// The admin of a command, for the audit log: the OS account, and the claimed name of the person.
enum OperatorName {
    /// `admin NAME`, with `(sudo NAME)`, `(actor NAME)` or both, if they are known. `SUDO_USER` and `--actor` can be
    /// forged by the account's user, so the log always names the account too.
    ///
    /// - Parameters:
    ///   - actor: `--actor`, if given.
    ///   - account: the account that the process runs under.
    /// - Throws: ``CommandFailure`` if the actor is not a valid name.
    static func text(
        actor: String?, account: String = NSUserName(),
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(CommandFailure) -> String {
        if let actor, !isName(actor) {
            throw CommandFailure(
                "--actor must be a name of at most 64 letters, digits and the marks . _ @ + -, such as ada@example.org.",
                exitCode: .usage)
        }
        // sudo sets it. A text that cannot be an account's name is ignored.
        let person = environment["SUDO_USER"].flatMap { $0 != account && isName($0) ? $0 : nil }
        let claims = [person.map { "sudo \($0)" }, actor.map { "actor \($0)" }].compactMap(\.self)
        return "admin \(account)" + (claims.isEmpty ? "" : " (\(claims.joined(separator: ", ")))")
    }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._@+-".contains($0)) }
    }
}
