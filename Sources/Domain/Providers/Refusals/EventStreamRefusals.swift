/// Refusals of streams of security events.
extension Refusal {
    package static let unknownOwnEventStream = Refusal(.notFound, "The provider has no such stream. Check the id.")

    package static func unknownEventStream(_ id: EventStreamID) -> Refusal {
        Refusal(.notFound, "There is no stream \(id). Check the id.")
    }

    package static let nothingToApprove = Refusal(
        .conflict, "The stream has no push address that awaits approval. Nothing was changed.")

    package static func pushAddressChanged(to url: String) -> Refusal {
        Refusal(.conflict, "The push address of the stream is now \(url). Approve that one.")
    }

    package static func eventStreamsExhausted(_ limit: Int) -> Refusal {
        Refusal(.conflict, "The provider already has \(limit) streams. Delete one first.")
    }

    package static func excludedUsersExhausted(_ limit: Int) -> Refusal {
        Refusal(.conflict, "The stream already leaves out \(limit) users. Add one of them again first.")
    }

    package static let unknownEventSubject = Refusal(
        .notFound, "The provider has no such user. Name one by iss_sub.")

    package static let tooManyPolls = Refusal(
        .rateLimited, "Too many polls of the provider are waiting. Wait for their answers.", retryAfter: 1)

    package static let notPolled = Refusal(
        .notFound, "The stream pushes its events and cannot be polled. Change its delivery method first.")

    package static func eventStreamDisabled(state: String) -> Refusal {
        Refusal(.conflict, "The stream is disabled. Enable it first.", state: state)
    }

    package static func verifiedTooSoon(retryAfter: Int) -> Refusal {
        Refusal(
            .rateLimited, "A verification was requested just now. Try again in \(retryAfter) s.",
            retryAfter: retryAfter)
    }
}
