import Domain
import Foundation

/// The person who gives a command: the OS account, and the claimed names of the person.
struct OperatorName: Sendable {
    private let account: String
    /// The account that `sudo` was started from.
    private let person: String?
    private let actor: String?

    /// `SUDO_USER` and `--actor` can be forged by the account's user, so neither gives a right.
    ///
    /// - Parameters:
    ///   - actor: `--actor`, if given.
    ///   - account: the account that the process runs under.
    /// - Throws: ``CommandFailure`` if the actor is not a valid name.
    init(
        actor: String?, account: String = NSUserName(),
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(CommandFailure) {
        if let actor, !Administrator.isName(actor) {
            throw CommandFailure(
                "--actor must be a name of at most 64 letters A to Z, digits and the marks . _ @ + -, such as ada@example.org.",
                exitCode: .usage)
        }
        // sudo sets it. A text that cannot be an account's name is ignored.
        person = environment["SUDO_USER"].flatMap { $0 != account && Administrator.isName($0) ? $0 : nil }
        self.account = account
        self.actor = actor
    }

    /// The accounts that may belong to an administrator. The first one that does decides: a mapped account cannot
    /// choose another role by `SUDO_USER`, and for an account with all rights a role is only a limit.
    var accounts: [String] { [account] + [person].compactMap(\.self) }

    /// The name in the audit log: `admin NAME`, with what else is known in parentheses, such as
    /// `(sudo NAME, actor NAME, administrator NAME, role ROLE)`. It always names the account.
    func text(_ administrator: Administrator? = nil) -> String {
        let claims = [
            person.map { "sudo \($0)" }, actor.map { "actor \($0)" },
            administrator.map { "administrator \($0.name), role \($0.role.rawValue)" },
        ].compactMap(\.self)
        return "admin \(account)" + (claims.isEmpty ? "" : " (\(claims.joined(separator: ", ")))")
    }
}
