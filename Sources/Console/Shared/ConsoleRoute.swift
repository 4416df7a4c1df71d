import Domain

/// A page of the console, or an action that a form of a page starts.
struct ConsoleRoute: Sendable {
    enum Kind: Sendable {
        /// `GET`, which changes nothing in the store.
        case page
        /// `POST`: its form's token is checked before it runs.
        case action
    }

    let kind: Kind
    /// The path, with `{}` for each segment that a request gives: `/users/{}`.
    let path: StaticString
    /// The right without which the route answers 403. The operations check it again.
    let right: AdminRight
    /// What a call costs. The calls of an administrator are limited for each cost, like those of every other caller.
    let cost: CallCost
    /// Whether it shows the data of a person. The persons are limited for each administrator: the route counts its look
    /// before it answers. For a page that did not, its address is counted as a person.
    let isPersonal: Bool
    /// The parameters that the query of a page may have. Others are refused: a condition that is ignored shows rows that
    /// nobody asked for.
    var query: Set<String> = []
    /// What a form's token is bound to besides its path; empty for nothing.
    let subject: @Sendable (ConsoleRequest) -> String
    let answer: @Sendable (ConsoleRequest) async throws -> ConsoleAnswer

    static func page(
        _ path: StaticString, _ right: AdminRight, cost: CallCost, query: Set<String> = [],
        isPersonal: Bool = false,
        _ answer: @escaping @Sendable (ConsoleRequest) async throws -> ConsoleAnswer
    ) -> ConsoleRoute {
        ConsoleRoute(
            kind: .page, path: path, right: right, cost: cost, isPersonal: isPersonal, query: query,
            subject: { _ in "" }, answer: answer)
    }

    static func action(
        _ path: StaticString, _ right: AdminRight, cost: CallCost, isPersonal: Bool = false,
        subject: @escaping @Sendable (ConsoleRequest) -> String = { _ in "" },
        _ answer: @escaping @Sendable (ConsoleRequest) async throws -> ConsoleAnswer
    ) -> ConsoleRoute {
        ConsoleRoute(
            kind: .action, path: path, right: right, cost: cost, isPersonal: isPersonal, subject: subject,
            answer: answer)
    }
}

/// What a route of the console answers. A refusal that a route throws becomes a page with its sentence.
enum ConsoleAnswer: Sendable {
    /// A page to read, or what an action will do and the form that confirms it.
    case page(Page)
    /// 303, after an action. A second submission of the same form gets it again, and the action does not run twice.
    case seeOther(PagePath)
    /// A file that the browser saves.
    case download([UInt8], name: StaticString, mediaType: StaticString)
}
