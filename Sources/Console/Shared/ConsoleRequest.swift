import Domain
import Foundation
import Operations

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
