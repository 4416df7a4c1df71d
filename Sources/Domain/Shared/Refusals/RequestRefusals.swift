/// Refusals that many features throw.
extension Refusal {
    package static func notUUID(_ subject: Subject) -> Refusal {
        Refusal(.malformedRequest, "This is not a UUID. Send a new random one.", about: subject)
    }

    package static func notObject(_ subject: Subject) -> Refusal {
        Refusal(.malformedRequest, "This is not an object. Send names with their values.", about: subject)
    }

    package static func wrongLength(_ length: Int, of subject: Subject, allowed: ClosedRange<Int>) -> Refusal {
        Refusal(
            .malformedRequest,
            "The text has \(length) bytes. It must have \(allowed.lowerBound) to \(allowed.upperBound).",
            about: subject)
    }

    package static func hiddenCharacter(in subject: Subject) -> Refusal {
        Refusal(
            .malformedRequest,
            "The text contains an invisible character, such as a control or direction character. Remove it.",
            about: subject)
    }

    /// - Parameter name: the noun for the value.
    package static func unknownChoice<Choice: RawRepresentable & CaseIterable>(
        of name: String, _ choices: Choice.Type, about subject: Subject? = nil
    ) -> Refusal where Choice.RawValue == String {
        let known = choices.allCases.map(\.rawValue).sorted().joined(separator: ", ")
        return Refusal(.malformedRequest, "The \(name) is unknown. It must be one of \(known).", about: subject)
    }

    package static let unknownCursor = Refusal(
        .malformedRequest, "The cursor is not from an earlier page. Start again without one.")

    /// The object that the cursor names was deleted, or is no longer in the list.
    package static func cursorGone(_ cursor: String) -> Refusal {
        Refusal(.notFound, "\(cursor) is no longer in this list.", about: .cursor)
    }

    /// The id of a new object belongs to another user's object.
    package static let idTaken = Refusal(.notFound, "The id belongs to another user. Send a new random UUID.")

    /// The id of a new object belongs to an earlier one with other contents.
    package static func idReused(state: String) -> Refusal {
        Refusal(
            .conflict, "You already used this id with other contents. Send a new random UUID.", state: state)
    }

    package static func requestedTwice(state: String) -> Refusal {
        Refusal(
            .conflict, "The same request arrived twice at the same time. Repeat it to get its result.", state: state)
    }

    package static func tooManyRequests(retryAfter: Int) -> Refusal {
        Refusal(.rateLimited, "Too many requests. Try again in \(retryAfter) s.", retryAfter: retryAfter)
    }

    package static func tooManyCalls(cost: String, retryAfter: Int) -> Refusal {
        Refusal(
            .rateLimited, "Too many calls of the cost \(cost). Try again in \(retryAfter) s.", retryAfter: retryAfter)
    }

    /// - Parameter attempts: a plural noun for the attempts.
    package static func tooMany(_ attempts: String, retryAfter: Int) -> Refusal {
        Refusal(.rateLimited, "Too many \(attempts). Try again in \(retryAfter) s.", retryAfter: retryAfter)
    }
}
