import Domain

/// Refusals of requests before they reach a page.
extension Refusal {
    static let noSuchPage = Refusal(.notFound, "There is no such page. Go on from the start page.")

    static func parameterUnknown(_ name: String) -> Refusal {
        Refusal(.malformedRequest, "The page has no parameter \(name). Remove it, or correct its name.")
    }

    static let pageFromElsewhere = Refusal(
        .insufficientScope,
        "The request came from another site, or the browser does not say from where. Open the start page and go on "
            + "from there.")

    static let pageOfOtherHost = Refusal(
        .insufficientScope,
        "The address names a host that the server's certificate does not name. Use a name of the certificate.")

    static let formOutdated = Refusal(
        .insufficientScope,
        "The form is older than an hour, or is not one of this certificate. Nothing was changed. Load its page again.")

    static let formIncomplete = Refusal(
        .malformedRequest, "The form is incomplete. Nothing was changed. Load its page again.")

    static let fieldsUnreadable = Refusal(
        .malformedRequest,
        "A field is given twice, is not UTF-8 or has characters that no text has. Nothing was changed. Change it.")

    static func tooManyPages(retryAfter: Int) -> Refusal {
        Refusal(
            .rateLimited,
            "You opened too many pages or sent too many forms in a minute. Nothing was changed. Wait \(retryAfter) s, then "
                + "load the page again.", retryAfter: retryAfter)
    }

    static let lineFull = Refusal(
        .rateLimited,
        "Too many pages or actions of yours are still waiting for the store. Nothing was changed. Wait until one has "
            + "its answer, then load the page again.", retryAfter: 2)

    static let pageTooSlow = Refusal(
        .unavailable, "The store did not answer within 2 s. Nothing was decided. Load the page again.")
}
