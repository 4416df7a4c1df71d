import Domain

/// Refusals of forms that an administrator filled in.
extension Refusal {
    static let reasonUnreadable = Refusal(
        .malformedRequest,
        "The reason must be a code or a ticket's number such as user_request or ticket:4711, without spaces and "
            + "personal data: the audit log keeps it for years. Go back and correct it.")

    static let banReasonUnreadable = Refusal(
        .malformedRequest,
        "The reason must be one word of at most 40 characters: A to Z, digits, _ and -. Go back and correct it.")

    /// - Parameter field: its label.
    static func fieldMissing(_ field: String) -> Refusal {
        Refusal(.malformedRequest, "The field \(field) is empty. Go back and fill it in.")
    }

    /// - Parameter field: its label.
    static func fieldUnreadable(_ field: String) -> Refusal {
        Refusal(.malformedRequest, "The field \(field) has a value that it cannot have. Go back and correct it.")
    }

    /// - Parameter noun: the kind of object that the id should be of.
    static func notAnID(_ noun: String) -> Refusal {
        Refusal(
            .malformedRequest,
            "This is not the id of a \(noun). Type in the whole id, or at least its first "
                + "\(TypedID<Kind.User>.fewest) characters.")
    }

    static let notSure = Refusal(
        .malformedRequest,
        "Nothing was changed: the box that confirms the action is not checked. Go back and check it.")

    /// - Parameter users: the number of users that the action affects.
    static func numberNotTyped(_ users: Int) -> Refusal {
        Refusal(
            .malformedRequest,
            "Nothing was changed: the action affects \(users) users, and another number was typed in. Go back and type it "
                + "in again.")
    }
}
