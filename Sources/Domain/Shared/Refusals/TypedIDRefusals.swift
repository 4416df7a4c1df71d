/// Refusals of commands about an id of which only the beginning was given.
package extension Refusal {
    /// - Parameter noun: the noun for the object.
    static func nothingBegins(with text: String, _ noun: String) -> Refusal {
        Refusal(.notFound, "No \(noun) has an id that begins with \(text). Check the id.")
    }

    static func noAuditEntry(about text: String) -> Refusal {
        Refusal(
            .notFound,
            "The audit log has no entry about \(text). Give an id, at least its first 8 characters, "
                + "<provider slug>/<external id>, or a whole subject such as \"user ID\".")
    }

    /// - Parameter candidates: the first objects that may be meant.
    static func severalBegin(with text: String, _ candidates: [String], isMore: Bool) -> Refusal {
        Refusal(
            .conflict,
            "\(text) is the beginning of several ids: \(candidates.joined(separator: ", "))\(isMore ? ", …" : ""). "
                + "Give more characters of the id.")
    }
}
