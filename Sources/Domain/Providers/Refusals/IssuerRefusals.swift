/// Refusals of OpenID providers and their clients.
package extension Refusal {
    static let unreadableIssuer = Refusal(
        .malformedRequest,
        "An issuer must be an https URL of a public host without query and fragment, as its ID tokens name it.")

    static let discoveryURLAsIssuer = Refusal(
        .malformedRequest,
        "This is the URL of a discovery document. Give only the issuer: leave out \(ProviderIssuer.discoveryPath).")

    static let issuerWithoutAudience = Refusal(
        .malformedRequest, "An audience is missing. Give the client id that the issuer gave.", about: .audience)

    static func tooManyIssuerClients(_ subject: Subject, allowed: Int) -> Refusal {
        Refusal(.malformedRequest, "There are too many client ids. Give at most \(allowed).", about: subject)
    }

    static func issuerClientRegistered(_ client: String, _ subject: Subject) -> Refusal {
        Refusal(
            .conflict, "The provider already has the client id \(client). Leave it out.", about: subject,
            state: "registered")
    }

    static func issuerClientsExhausted(_ subject: Subject, allowed: Int) -> Refusal {
        Refusal(
            .conflict, "A provider has at most \(allowed) client ids of this kind. Remove one first.", about: subject,
            state: "full")
    }

    static func unknownIssuerClient(_ client: String, _ subject: Subject) -> Refusal {
        Refusal(
            .notFound, "The provider has no client id \(client). Look at the list of its clients.", about: subject)
    }

    static let lastAudience = Refusal(
        .conflict, "A provider by issuer needs an audience. Add another before you remove the last one.",
        state: "last_audience")

    static let lastParty = Refusal(
        .conflict, "Without its last party any client may request ID tokens for the provider.", about: .parties,
        state: "last_party")

    static func providerWithoutIssuer(_ slug: Slug) -> Refusal {
        Refusal(
            .malformedRequest,
            "\(slug.text) signs its own identity tokens, so it has no clients of an issuer. Name another provider.")
    }

    static func audienceOfAnotherProvider(_ audience: String) -> Refusal {
        Refusal(
            .conflict, "The issuer has another provider with the audience \(audience). Remove it there first.",
            state: "registered")
    }

    static func audienceRegistered(_ audience: String) -> Refusal {
        Refusal(
            .conflict, "A provider with this issuer and the audience \(audience) is already registered. Use that one.",
            state: "registered")
    }

    static func issuerProvidersExhausted(_ limit: Int) -> Refusal {
        Refusal(
            .conflict, "The issuer already has \(limit.counting("provider")). Give an existing one more audiences.",
            state: "full")
    }

    static func issuerUnreachable(_ reason: String) -> Refusal {
        Refusal(.malformedRequest, "The issuer's keys cannot be read: \(reason). Check the URL.")
    }

    static func issuerKeysUnreadable(_ defect: String) -> Refusal {
        Refusal(.malformedRequest, "The issuer's keys cannot be read. \(defect)")
    }

    static let issuerWithoutKeys = Refusal(
        .malformedRequest, "The issuer's key set has no key for these algorithms. Allow another algorithm.")

    static let issuerKeysExpired = Refusal(
        .invalidIdentityToken,
        "The issuer's keys could not be fetched for 24 hours, and the cached keys have expired. Try again later.",
        reason: .unknownKey)

    static let issuerNotRegistered = Refusal(
        .invalidIdentityToken, "The claim iss names no registered issuer. Ask the operator to add it.",
        reason: .unknownIssuer)
}
