/// Refusals of streams, messages and notifications.
extension Refusal {
    package static let unknownStream = Refusal(.notFound, "You have no such stream. Check the id.")

    package static let unknownStreamKind = unknownChoice(
        of: "kind of stream", MessageStream.Kind.self, about: .streamKind)

    package static let insecureStreamImage = Refusal(
        .malformedRequest, "This is not an https URL. Send one.", about: .streamImage)

    package static let wrongNumberOfMembers = Refusal(
        .malformedRequest,
        "The list must contain the other users: one for a direct stream or a call, up to "
            + "\(MessageStream.maximumMembers - 1) for a conversation, none for a forum.", about: .streamMembers)

    package static let unreadableMember = Refusal(
        .malformedRequest, "An element is neither a user id nor an address (<provider>/<user>). Send one of the two.",
        about: .streamMembers)

    package static let memberIsCaller = Refusal(
        .malformedRequest, "The list contains you. Name only the other users.", about: .streamMembers)

    package static func metadataTooLarge(_ subject: Subject) -> Refusal {
        Refusal(
            .malformedRequest,
            "The metadata are too large. They may have \(StreamMetadata.maximumKeys) names, "
                + "\(StreamMetadata.maximumDepth) levels and \(StreamMetadata.maximumBytes) bytes.", about: subject)
    }

    package static func wrongNumberOfParts(allowed: Int) -> Refusal {
        Refusal(.malformedRequest, "This is not a list of 1 to \(allowed) parts. Send one.", about: .messageParts)
    }

    package static func partsTooLarge(allowed: Int) -> Refusal {
        Refusal(.payloadTooLarge, "The parts have more than \(allowed) bytes. Send a shorter message.")
    }

    package static func malformedPart(_ number: Int) -> Refusal {
        Refusal(
            .malformedRequest,
            "Part \(number) is not an object of two members: a media type without parameters, and a body.",
            about: .messageParts)
    }

    package static func unreadablePartContent(_ number: Int) -> Refusal {
        Refusal(
            .malformedRequest,
            "Part \(number) has no readable body. Send body, a text, or body_base64, base64url without padding.",
            about: .messageParts)
    }

    package static let unknownRepliedMessage = Refusal(
        .notFound, "The stream has no such message. Check the id.", about: .repliedMessage)

    package static let unknownOwnMessage = Refusal(
        .notFound, "The stream has no such message that you may delete. Check the id.")

    package static let messageDeleted = Refusal(
        .conflict, "The message was deleted. Send it under a new id.", state: "deleted")

    package static let streamDeleted = Refusal(
        .conflict, "The stream was deleted. Open another one under a new id.", state: "deleted")

    package static let notYourTurn = Refusal(
        .conflict, "The other user must send next in this call. Wait for their message.", state: "turn")

    package static let callAnswered = Refusal(
        .conflict, "The call was answered on another device. Stop ringing.", state: "answered")

    package static let callMissed = Refusal(
        .conflict, "The call was not answered in time. Start another one.", state: "missed")

    package static let streamClosed = Refusal(
        .conflict, "You and the other user no longer have an approved authorization. Request one first.",
        state: "closed")

    package static let streamLeft = Refusal(
        .conflict, "You are no longer a member of this stream. Ask a member to add you.", state: "left")

    package static let messagingUnauthorized = Refusal(
        .conflict, "You and this user have no approved authorization. Request one first.", state: "unauthorized")

    package static func unsupported(by kind: MessageStream.Kind) -> Refusal {
        Refusal(.conflict, "A stream of the kind \(kind.rawValue) does not support this.", state: "unsupported")
    }

    package static func tooManyStreams(_ count: Int64) -> Refusal {
        Refusal(.conflict, "You already have \(count) streams. Delete one first.", state: "full")
    }

    package static let tooManyMembers = Refusal(
        .conflict, "The stream has as many members as a stream may have. Open another one.", state: "full")

    package static func messagesExhausted(_ limit: Int64) -> Refusal {
        Refusal(.conflict, "Your messages may take \(limit) bytes in all. Delete some first.", state: "full")
    }

    package static let afterAndBefore = Refusal(.malformedRequest, "Send either after or before, not both.")

    package static func notSequence(_ name: String) -> Refusal {
        Refusal(.malformedRequest, "\(name) must be a whole number of 0 or more.")
    }

    package static let unknownAnchor = Refusal(
        .malformedRequest, "The anchor is not from an earlier answer. Send that of the last answer, or 0 to begin.")

    package static let tooManySynchronizations = Refusal(
        .rateLimited, "Too many of your synchronizations are waiting. Wait for their answers.", retryAfter: 1)

    package static let unsuitableNotificationData = Refusal(
        .malformedRequest,
        "The values must be texts, each name may occur once, and none may be aps or notification_id.",
        about: .notificationData)
}
