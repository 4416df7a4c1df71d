/// Refusals that many features throw.
package extension Refusal {
    static func notUUID(_ subject: Subject) -> Refusal {
        Refusal(.malformedRequest, "This is not a UUID. Send a new random one.", about: subject)
    }

    static func notObject(_ subject: Subject) -> Refusal {
        Refusal(.malformedRequest, "This is not an object. Send names with their values.", about: subject)
    }

    static func wrongLength(_ length: Int, of subject: Subject, allowed: ClosedRange<Int>) -> Refusal {
        Refusal(
            .malformedRequest,
            "The text has \(length) bytes. It must have \(allowed.lowerBound) to \(allowed.upperBound).",
            about: subject)
    }

    static func hiddenCharacter(in subject: Subject) -> Refusal {
        Refusal(
            .malformedRequest,
            "The text contains an invisible character, such as a control or direction character. Remove it.",
            about: subject)
    }

    static func blank(_ subject: Subject) -> Refusal {
        Refusal(.malformedRequest, "The text is blank. It must have a letter, a digit or a sign.", about: subject)
    }

    /// - Parameter name: the noun for the value.
    static func unknownChoice<Choice: RawRepresentable & CaseIterable>(
        of name: String, _ choices: Choice.Type, about subject: Subject? = nil
    ) -> Refusal where Choice.RawValue == String {
        let known = choices.allCases.map(\.rawValue).sorted().joined(separator: ", ")
        return Refusal(.malformedRequest, "The \(name) is unknown. It must be one of \(known).", about: subject)
    }

    static let unknownCursor = Refusal(
        .malformedRequest, "The cursor is not from an earlier page. Start again without one.")

    /// The object that the cursor names was deleted, or was never in the list.
    static func cursorGone(_ cursor: String) -> Refusal {
        Refusal(
            .notFound, "\(quoted(cursor)) is not in this list. It was deleted, or is not an id from it.", about: .cursor
        )
    }

    /// The id of a new object belongs to another user's object.
    static let idTaken = Refusal(.notFound, "The id belongs to another user. Send a new random UUID.")

    /// The id of a new object belongs to an earlier one with other contents.
    static func idReused(state: String) -> Refusal {
        Refusal(
            .conflict, "You already used this id with other contents. Send a new random UUID.", state: state)
    }

    static func requestedTwice(state: String) -> Refusal {
        Refusal(
            .conflict, "The same request arrived twice at the same time. Repeat it to get its result.", state: state)
    }

    static func tooManyRequests(retryAfter: Int) -> Refusal {
        Refusal(.rateLimited, "Too many requests. Try again in \(retryAfter) s.", retryAfter: retryAfter)
    }

    static func tooManyCalls(cost: String, retryAfter: Int) -> Refusal {
        Refusal(
            .rateLimited, "Too many calls of the cost \(cost). Try again in \(retryAfter) s.", retryAfter: retryAfter)
    }

    /// - Parameter attempts: a plural noun for the attempts.
    static func tooMany(_ attempts: String, retryAfter: Int) -> Refusal {
        Refusal(.rateLimited, "Too many \(attempts). Try again in \(retryAfter) s.", retryAfter: retryAfter)
    }

    // MARK: Ids of which only the beginning was given

    /// - Parameter noun: the noun for the object.
    static func nothingBegins(with text: String, _ noun: String) -> Refusal {
        Refusal(.notFound, "No \(noun) has an id that begins with \(text). Check the id.")
    }

    /// - Parameters:
    ///   - noun: the noun for the object.
    ///   - fewest: the fewest characters of a beginning.
    static func notAnID(_ text: String, _ noun: String, fewest: Int) -> Refusal {
        Refusal(
            .malformedRequest,
            "\(quoted(text)) is not an id: give the \(noun)'s id, or at least its first \(fewest) characters.")
    }

    /// A text in a sentence, in quotes if it would not be seen there.
    static func quoted(_ text: String) -> String {
        text.utf8.allSatisfy { $0 == UInt8(ascii: " ") } ? "\"\(text)\"" : text
    }

    static func noAuditEntry(about text: String) -> Refusal {
        Refusal(
            .notFound,
            "The audit log has no entry about \(quoted(text)). Give an id, at least its first 8 characters, "
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
