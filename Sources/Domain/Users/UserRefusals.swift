/// Refusals of commands and calls about a user.
package extension Refusal {
    static let userErased = Refusal(.notFound, "The user no longer exists. Nothing was changed.")

    static func noUser(named name: String) -> Refusal {
        Refusal(.notFound, "There is no user \(quoted(name)). Give an id, or <provider slug>/<external id>.")
    }
}
