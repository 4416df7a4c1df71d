/// Refusals of commands and calls about a user.
extension Refusal {
    package static let userErased = Refusal(.notFound, "The user no longer exists. Nothing was changed.")

    package static func noUser(named name: String) -> Refusal {
        Refusal(.notFound, "There is no user \(name). Give an id, or <provider slug>/<external id>.")
    }
}
