import Foundation

/// Who gives a command, as the audit log says it: the account of the system, and what is said of the person behind it.
enum OperatorName {
    /// `admin NAME`, with `(sudo NAME)`, `(actor NAME)` or both, where they are known. `SUDO_USER` and `--actor` are claims
    /// of whoever uses the account, which the log therefore always names.
    ///
    /// - Parameters:
    ///   - actor: `--actor`, if given.
    ///   - account: the account that the process runs under.
    /// - Throws: ``CommandFailure`` for an actor that is no name.
    static func text(
        actor: String?, account: String = NSUserName(),
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(CommandFailure) -> String {
        if let actor, !isName(actor) {
            throw CommandFailure(
                "--actor must be a name of at most 64 letters, digits and the marks . _ @ + -, such as ada@example.org.",
                exitCode: .usage)
        }
        // sudo sets it; a name that could not be one of the system's is not worth keeping.
        let person = environment["SUDO_USER"].flatMap { $0 != account && isName($0) ? $0 : nil }
        let claims = [person.map { "sudo \($0)" }, actor.map { "actor \($0)" }].compactMap(\.self)
        return "admin \(account)" + (claims.isEmpty ? "" : " (\(claims.joined(separator: ", ")))")
    }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._@+-".contains($0)) }
    }
}
