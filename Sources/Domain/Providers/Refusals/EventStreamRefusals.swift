/// Refusals of streams of security events.
package extension Refusal {
    static let unknownOwnEventStream = Refusal(.notFound, "The provider has no such stream. Check the id.")

    static func unknownEventStream(_ id: EventStreamID) -> Refusal {
        Refusal(.notFound, "There is no stream \(id). Check the id.")
    }

    static let nothingToApprove = Refusal(
        .conflict, "The stream has no push address that awaits approval. Nothing was changed.")

    static func pushAddressChanged(to url: String) -> Refusal {
        Refusal(.conflict, "The push address of the stream is now \(url). Approve that one.")
    }

    static func eventStreamsExhausted(_ limit: Int) -> Refusal {
        Refusal(.conflict, "The provider already has \(limit) streams. Delete one first.")
    }

    static func excludedUsersExhausted(_ limit: Int) -> Refusal {
        Refusal(.conflict, "The stream already leaves out \(limit) users. Add one of them again first.")
    }

    static let unknownEventSubject = Refusal(
        .notFound, "The provider has no such user. Name one by iss_sub.")

    static let tooManyPolls = Refusal(
        .rateLimited, "Too many polls of the provider are waiting. Wait for their answers.", retryAfter: 1)

    static let notPolled = Refusal(
        .notFound, "The stream pushes its events and cannot be polled. Change its delivery method first.")

    static func eventStreamDisabled(state: String) -> Refusal {
        Refusal(.conflict, "The stream is disabled. Enable it first.", state: state)
    }

    static func verifiedTooSoon(retryAfter: Int) -> Refusal {
        Refusal(
            .rateLimited, "A verification was requested just now. Try again in \(retryAfter) s.",
            retryAfter: retryAfter)
    }
}
