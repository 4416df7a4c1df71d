/// Refusals of addresses and of contact discovery.
package extension Refusal {
    static let unreadableAddress = Refusal(
        .malformedRequest, "This is neither a number in E.164 form nor <provider>/<user>. Send one of the two.",
        about: .findableAddress)

    static let unknownAddress = Refusal(
        .notFound, "No user of your provider can be found by this address. Check it, or ask the user for another one.")

    static let unknownAddressType = Refusal(
        .notFound, "The path names no kind of address. End it in phone or name.")

    static func wrongNumberOfContacts(allowed: Int) -> Refusal {
        Refusal(.malformedRequest, "The list must have 1 to \(allowed) elements.", about: .blindedNumbers)
    }

    static let unreadableContact = Refusal(
        .malformedRequest, "An element is not a compressed point of P-384. Blind the number again.",
        about: .blindedNumbers)

    static let unknownWeek = Refusal(
        .notFound, "The week is over. Read the current week and start again.")

    static let unknownBucket = Refusal(
        .notFound, "The week's set has no such bucket. Use at most the week's number of bits.")

    static func contactsExhausted(_ limit: Int, retryAfter: Int) -> Refusal {
        Refusal(
            .rateLimited, "A phone number may look up \(limit.counting("contact")) a day. Try again tomorrow.",
            retryAfter: retryAfter)
    }
}
