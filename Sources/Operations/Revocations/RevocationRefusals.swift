import Domain

extension Refusal {
    /// - Parameter users: the number of users that the action would affect now.
    package static func moreUsers(_ users: Int) -> Refusal {
        Refusal(
            .conflict,
            "Nothing was changed: the action would affect \(users.counting("user")) now, which is more than the page showed. "
                + "Go back, load the page again and confirm its number.")
    }
}
