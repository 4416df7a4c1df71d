/// Refusals of streams, messages and notifications.
package extension Refusal {
    static let unknownStream = Refusal(.notFound, "You have no such stream. Check the id.")

    static let unknownStreamKind = unknownChoice(
        of: "kind of stream", MessageStream.Kind.self, about: .streamKind)

    static let unknownMessageStorage = unknownChoice(
        of: "message_storage", MessageStorage.self, about: .messageStorage)

    static let insecureStreamImage = Refusal(
        .malformedRequest, "This is not an https URL. Send one.", about: .streamImage)

    static let wrongNumberOfMembers = Refusal(
        .malformedRequest,
        "The list must contain the other users: one for a direct stream or a call, up to "
            + "\(MessageStream.maximumMembers - 1) for a conversation, none for a forum.", about: .streamMembers)

    static let unreadableMember = Refusal(
        .malformedRequest, "An element is neither a user id nor an address (<provider>/<user>). Send one of the two.",
        about: .streamMembers)

    static let memberIsCaller = Refusal(
        .malformedRequest, "The list contains you. Name only the other users.", about: .streamMembers)

    static func metadataTooLarge(_ subject: Subject, _ bounds: StreamMetadata.Bounds) -> Refusal {
        Refusal(
            .malformedRequest,
            "The metadata are too large. They may have \(bounds.names) names, \(bounds.levels) levels and "
                + "\(bounds.bytes) bytes.", about: subject)
    }

    internal static func wrongNumberOfParts(allowed: Int) -> Refusal {
        Refusal(.malformedRequest, "This is not a list of 1 to \(allowed) parts. Send one.", about: .messageParts)
    }

    static func partsTooLarge(allowed: Int) -> Refusal {
        Refusal(.payloadTooLarge, "The content of the parts has more than \(allowed) bytes. Send a shorter message.")
    }

    internal static func malformedPart(_ number: Int) -> Refusal {
        Refusal(
            .malformedRequest,
            "Part \(number) is not an object of two members: a media type without parameters, and a body.",
            about: .messageParts)
    }

    internal static func unreadablePartContent(_ number: Int) -> Refusal {
        Refusal(
            .malformedRequest,
            "Part \(number) has no readable body. Send body, a text, or body_base64, base64url without padding.",
            about: .messageParts)
    }

    static let unknownRepliedMessage = Refusal(
        .notFound, "The stream has no such message. Check the id.", about: .repliedMessage)

    static let unknownMessage = Refusal(
        .notFound, "The stream has no such message, or it was deleted. Check the id.")

    static let unknownOwnMessage = Refusal(
        .notFound, "The stream has no such message that you may delete. Check the id.")

    static let messageDeleted = Refusal(
        .conflict, "The message was deleted. Send it under a new id.", state: "deleted")

    static let streamDeleted = Refusal(
        .conflict, "The stream was deleted. Open another one under a new id.", state: "deleted")

    static let notYourTurn = Refusal(
        .conflict, "The other user must send next in this call. Wait for their message.", state: "turn")

    static let callAnswered = Refusal(
        .conflict, "The call was answered on another device. Stop ringing.", state: "answered")

    static let callMissed = Refusal(
        .conflict, "The call was not answered in time. Start another one.", state: "missed")

    static let streamClosed = Refusal(
        .conflict, "You and the other user no longer have an approved authorization. Request one first.",
        state: "closed")

    static let streamLeft = Refusal(
        .conflict, "You are no longer a member of this stream. Ask a member to add you.", state: "left")

    static let messagingUnauthorized = Refusal(
        .conflict, "You and this user have no approved authorization. Request one first.", state: "unauthorized")

    static func unsupported(by kind: MessageStream.Kind) -> Refusal {
        Refusal(
            .conflict, "A stream of the kind \(kind.rawValue) does not support this. Use a stream of another kind.",
            state: "unsupported")
    }

    static func tooManyStreams(_ count: Int64) -> Refusal {
        Refusal(.conflict, "You already have \(count.counting("stream")). Delete one of them first.", state: "full")
    }

    static let tooManyMembers = Refusal(
        .conflict, "The stream has as many members as a stream may have. Open another one.", state: "full")

    static func messagesExhausted(_ limit: Int64) -> Refusal {
        Refusal(.conflict, "Your messages may take \(limit) bytes in all. Delete some first.", state: "full")
    }

    static let afterAndBefore = Refusal(.malformedRequest, "Send either after or before, not both.")

    static func notSequence(_ name: String) -> Refusal {
        Refusal(.malformedRequest, "\(name) must be a whole number of 0 or more.")
    }

    static let unknownAnchor = Refusal(
        .malformedRequest, "The anchor is not from an earlier answer. Send that of the last answer, or 0 to begin.")

    static let tooManySynchronizations = Refusal(
        .rateLimited, "Too many of your synchronizations are waiting. Wait for their answers.", retryAfter: 1)

    internal static let unsuitableNotificationData = Refusal(
        .malformedRequest,
        "The values must be texts, each name may occur once, and none may be aps or notification_id.",
        about: .notificationData)

    // MARK: Filters of lists

    static let unreadableFilterMember = Refusal(
        .malformedRequest,
        "The query parameter member is neither a user id nor an address (<provider>/<user>). Send one of the two.")

    static let filterOfForums = Refusal(
        .malformedRequest, "Forums have no members and no private metadata. List them by kind and metadata.shared only."
    )

    static func metadataNotIndexed(_ name: some StringProtocol, declared: [String]) -> Refusal {
        Refusal(
            .malformedRequest,
            declared.isEmpty
                ? "This service indexes no metadata. Remove \(name)."
                : "The metadata \(name) is not indexed. Remove it. Indexed are: \(declared.joined(separator: ", ")).")
    }

    static func metadataValueTooLong(_ name: some StringProtocol) -> Refusal {
        Refusal(
            .malformedRequest,
            "The value of \(name) has more than \(StreamMetadata.longestIndexed) bytes. Longer values are not indexed.")
    }

    static func tooManyMetadataValues(allowed: Int) -> Refusal {
        Refusal(.malformedRequest, "The filter has more than \(allowed) values of metadata. Remove some.")
    }
}
