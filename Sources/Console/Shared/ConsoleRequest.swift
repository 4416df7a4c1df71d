import Domain
import Encoding
import Foundation
import Operations
import Synchronization

/// A request of an administrator with a valid certificate, on the console.
struct ConsoleRequest: Sendable {
    /// The segments of the path in place of the route's placeholders, percent-decoded.
    let segments: [String]
    /// The query, or the members of a form without the token and the operation's id.
    let values: [String: String]
    let administrator: Administrator
    /// The operations, with the administrator as actor and limited by the role.
    let administration: Administration
    let now: Date
    /// The id of the submission, by which a second one is recognized; `nil` for a request that reads.
    let operationID: String?
    let tokens: FormToken
    let newOperationID: @Sendable () -> String
    let parts: ConsoleParts
    let looks = PersonalLooks()
}

extension ConsoleRequest {
    /// A value of the query or form. An empty field is absent.
    func value(_ name: StaticString) -> String? {
        values[name.description].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A form that this administrator can send within an hour.
    ///
    /// - Parameter subject: the id of what the action changes; empty if there is none.
    func form(
        to action: PagePath, subject: String = "", _ fields: [Form.Field], submit: String, isDangerous: Bool = false
    ) -> Form {
        Form(
            to: action, token: tokens.issue(for: action.text, subject: subject, at: now),
            operationID: newOperationID(), fields, submit: submit, isDangerous: isDangerous)
    }
}

/// Whether a request has counted its look at a person.
final class PersonalLooks: Sendable {
    private let value = Mutex(false)

    var areCounted: Bool { value.withLock { $0 } }

    fileprivate func note() { value.withLock { $0 = true } }
}

extension ConsoleRequest {
    /// Counts the look at users, each for itself, before their data is shown.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    func look(at users: [UserID]) throws(Refusal) {
        for user in users { try look(by: Digest256.of("user \(user)"), at: [user]) }
    }

    /// Says that the page has nobody's data.
    func looksAtNobody() { looks.note() }

    /// Counts the look at users whom a number, document, device or ban leads to. A single user counts once, also if the
    /// administrator opens the user's own page.
    ///
    /// - Parameters:
    ///   - name: a digest of what leads to the person.
    ///   - users: empty until the person is known.
    /// - Throws: `Refusal` `rate_limited`.
    func look(by name: Digest256, at users: [UserID] = []) throws(Refusal) {
        looks.note()
        try parts.service.countLook(at: name, of: users, by: administrator)
    }
}
