/// Refusals of messaging permissions, blocks and push addresses.
package extension Refusal {
    static let unknownAuthorization = Refusal(.notFound, "You have no such authorization. Check the id.")

    /// There is no such user, or the user belongs to another provider.
    static let unknownUser = Refusal(.notFound, "Your provider has no such user. Check the id or address.")

    static let unreadableRecipient = Refusal(
        .malformedRequest, "This is neither a user id nor an address (<provider>/<user>). Send one of the two.",
        about: .recipient)

    static let recipientIsCaller = Refusal(
        .malformedRequest, "This is your own user. Name another one.", about: .recipient)

    static let wrongEventIDLength = Refusal(
        .malformedRequest, "The text must have 1 to 256 bytes.", about: .eventID)

    static func authorizationExpired(state: String) -> Refusal {
        Refusal(.gone, "The request expired without an answer. Make a new one.", state: state)
    }

    static func authorizationIs(_ state: String) -> Refusal {
        Refusal(
            .conflict, "The authorization is in the state \(state), which does not allow this. Read it and its state.",
            state: state)
    }

    static func authorizationChanged(state: String) -> Refusal {
        Refusal(.conflict, "The authorization changed at the same time. Read it and decide again.", state: state)
    }

    static func authorizationExists(state: String) -> Refusal {
        Refusal(
            .conflict, "You and this user already have an authorization. Use that one.", about: .authorizations,
            state: state)
    }

    static func authorizationRejected(state: String, retryAfter: Int) -> Refusal {
        Refusal(
            .conflict, "The user rejected your request. Ask again in \(retryAfter) s.", state: state,
            retryAfter: retryAfter)
    }

    static func authorizationsExhausted(_ limit: Int, retryAfter: Int) -> Refusal {
        Refusal(
            .rateLimited, "You made \(limit.counting("request")) in 24 hours. Try again in \(retryAfter) s.",
            retryAfter: retryAfter)
    }

    /// The caller lacks a level. A card is accepted only from a user with a verified phone number.
    ///
    /// - Parameter current: the caller's level.
    static func levelRequired(_ level: Assurance, from current: Assurance) -> Refusal {
        let card = level <= .barcode ? "show a card" : "show a card that its issuer confirms"
        let way =
            switch (level, current) {
            case (...Assurance.phone, _): "Verify a phone number first."
            case (_, .none): "Verify a phone number, then \(card)."
            default: "First \(card)."
            }
        return Refusal(
            .notVerified, "This requires the level \(level.rawValue). \(way)", reason: .caller, requiredLevel: level)
    }

    /// The other user lacks a level.
    static func partnerLevelRequired(_ level: Assurance) -> Refusal {
        Refusal(
            .notVerified,
            "This requires that the other user has the level \(level.rawValue). Ask them to reach it first.",
            reason: .partner, requiredLevel: level)
    }

    static func blocksExhausted(_ limit: Int) -> Refusal {
        Refusal(.conflict, "You already block \(limit.counting("user")). End another block first.", state: "full")
    }

    static let noUserInPath = Refusal(
        .notFound, "The path names no user. End it in the id of a user.")

    static let ownBlock = Refusal(.malformedRequest, "You cannot block yourself. Name another user.")

    static let unknownPushEndpoint = unknownEndpoint(about: .pushEndpoint)

    static let unknownCallEndpoint = unknownEndpoint(about: .callEndpoint)

    private static func unknownEndpoint(about subject: Subject) -> Refusal {
        Refusal(
            .malformedRequest,
            "This is not the ARN of an endpoint of a configured platform application. Register the device there first.",
            about: subject)
    }
}
