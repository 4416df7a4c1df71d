/// Refusals of providers, their tokens, keys and receivers.
package extension Refusal {
    static func unknownProvider(_ name: String) -> Refusal {
        Refusal(.notFound, "There is no provider \(quoted(name)). Give its slug or id.")
    }

    static func noApps(ofProvider name: String) -> Refusal {
        Refusal(.notFound, "The provider \(name) has no app. Add one first.")
    }

    static let noSlug = Refusal(
        .malformedRequest, "No slug can be derived from a name without Latin letters and digits.", about: .slug)

    static func slugTaken(_ slug: Slug) -> Refusal {
        Refusal(.conflict, "The slug \(slug.text) is taken.", about: .slug, state: "taken")
    }

    static let unknownScope = Refusal(
        .malformedRequest,
        "A scope is unknown. Each must be one of \(ProviderScope.allCases.map(\.rawValue).joined(separator: ", ")).",
        reason: .invalidScope)

    static let unknownProviderUser = Refusal(
        .notFound, "The provider has no such user here. Check the id, or wait for the user's first sign-in.")

    // Tokens.

    static let bearerRequired = Refusal(
        .providerTokenRequired, "The provider token is missing. Send it as Authorization: Bearer.")

    static let assertionRequired = Refusal(
        .providerTokenRequired, "The client_assertion is missing. Send a token that a key of the provider signed.")

    static func wrongAssertionType(_ type: String) -> Refusal {
        Refusal(.providerTokenInvalid, "The client_assertion_type is wrong. It must be \(type).")
    }

    static let unknownTokenIssuer = Refusal(.providerTokenInvalid, unknownIssuer.detail)

    static let providerKeyEnded = Refusal(
        .providerTokenInvalid,
        "The key that signed the token was revoked, or its provider was disabled. Sign with an active key.")

    static let accessTokenKeyEnded = Refusal(
        .providerTokenInvalid,
        "The key that requested the access token was retired, or its provider was disabled. "
            + "Request a token with an active key.")

    static func scopeRequired(_ scope: ProviderScope?) -> Refusal {
        Refusal(
            .insufficientScope,
            "The access token lacks the scope \(scope?.rawValue ?? "") of this call. Request one with it.")
    }

    static let applicationIDAsClient = Refusal(
        .providerTokenInvalid, "The client_id is the id of an app, which is for devices. Send the provider_id.")

    static let clientOfAnotherProvider = Refusal(
        .providerTokenInvalid, "The client_id is not the assertion's provider. Send the provider_id, as in iss.")

    static let freshProofRequired = Refusal(
        .providerTokenInvalid,
        "An access token alone does not permit this. Also send a fresh provider token in Countersign-Proof.")

    static let proofOfAnotherProvider = Refusal(
        .providerTokenInvalid,
        "The proof and the bearer token are from different providers. Use the same provider for both.")

    static let proofUsed = Refusal(
        .providerTokenInvalid, "The jti was used before. Make a new proof for each request.")

    static let assertionUsed = Refusal(
        .providerTokenInvalid, "The jti was used before. Sign a new client assertion for each request.")

    static let eventWithoutKeyID = Refusal(
        .providerTokenInvalid, "The header has no kid. Name the key that signed.")

    static let eventWithoutSubject = Refusal(
        .providerTokenInvalid, "The claim sub_id has no user or session. Name one.")

    static func invalidProviderToken(_ defect: String, reason: Reason? = nil) -> Refusal {
        Refusal(.providerTokenInvalid, defect, reason: reason)
    }

    static let accessTokenUnknown = Refusal(
        .providerTokenInvalid, "This service did not sign the access token. Request a new one.")

    static let accessTokenOfAnotherAudience = Refusal(
        .providerTokenInvalid, "The access token's audience is not this service. Request a new one here.")

    static let accessTokenOfSession = Refusal(
        .providerTokenInvalid,
        "The access token is not for the calls of a provider. Request one with client credentials.")

    static let accessTokenExpired = Refusal(
        .providerTokenInvalid, "The access token has expired. Request a new one.")

    static func accessTokenIntrospected(issuer: String) -> Refusal {
        Refusal(
            .malformedRequest,
            "This is an access token. Verify it with the keys at \(issuer)/.well-known/jwks.json. "
                + "Only session tokens can be introspected and revoked.")
    }

    // Keys.

    static let unknownAlgorithm = Refusal(
        .malformedRequest, "This service does not support the algorithm. Use another one.", about: .algorithm)

    static let keyRegistered = Refusal(
        .conflict, "This key is or was already registered. Make a new key.", state: "registered")

    static func providerKeysExhausted(_ limit: Int) -> Refusal {
        Refusal(
            .conflict,
            "The provider has \(limit.counting("key")), including revoked ones. Ask the operator to add more.",
            state: "full")
    }

    static let keyOfIssuer = Refusal(
        .conflict, "The key is from the issuer's key set, which cannot be retired here. Revoke it instead.",
        state: "added_by_issuer")

    static let unknownOwnKey = Refusal(.notFound, "The provider has no such key. Check the id.")

    static let keyOfAdmin = Refusal(
        .conflict,
        "An operator added this key, and the key that signed was added over HTTP. Sign with an operator's key.",
        state: "added_by_admin")

    static let lastKey = Refusal(
        .conflict, "A provider needs at least one active key. Add another first.", state: "last_key")

    static func unknownKey(_ id: ProviderKeyID) -> Refusal {
        Refusal(.notFound, "There is no key \(id). Check the id.")
    }

    static let unsupportedKey = Refusal(
        .invalidProviderKey, "The algorithm of the registered key is not supported. Register another key.",
        reason: .unsupportedKey)

    static let keyNotJSON = Refusal(
        .invalidProviderKey, "The key looks like a JWK but is not JSON. Send one key as PEM or JWK.",
        reason: .malformed)

    static func keyProofAlgorithm(expected: String) -> Refusal {
        Refusal(
            .invalidProviderKey, "The proof's alg is wrong. It must be \(expected), the algorithm of the new key.",
            reason: .badProof)
    }

    static let keyProofSignatureInvalid = Refusal(
        .invalidProviderKey, "The proof is not signed with the new key. Sign it with that key.", reason: .badProof)

    static let keyProofOfAnotherProvider = Refusal(
        .invalidProviderKey, "The proof's iss or sub is wrong. It must be the provider_id.", reason: .badProof)

    // URLs.

    static func ownResource(_ url: String) -> Refusal {
        Refusal(.malformedRequest, "\(url) is a URL of this service. Give one of the provider's backend.")
    }

    static func resourceRegistered(_ url: String) -> Refusal {
        Refusal(.conflict, "\(url) is already registered. Remove it first.", state: "registered")
    }

    static func unknownResource(_ url: String) -> Refusal {
        Refusal(.notFound, "\(url) is registered for no provider. Check the spelling.")
    }

    static let noWebhook = Refusal(.notFound, "The provider has no webhook. Set one first.")

    /// - Parameter text: the URL that `PublicURL` does not accept.
    static func notPublicURL(_ text: String, _ subject: Subject) -> Refusal {
        Refusal(
            .malformedRequest, "It must be an https URL of a public host. \(URLObjection.publicURL(text))",
            about: subject)
    }

    static func privateHost(_ subject: Subject) -> Refusal {
        Refusal(
            .malformedRequest, "The host has an address that is not public. Give a host with public addresses only.",
            about: subject)
    }

    // MARK: Streams of security events

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
        Refusal(.conflict, "The provider already has \(limit.counting("stream")). Delete one first.")
    }

    static func excludedUsersExhausted(_ limit: Int) -> Refusal {
        Refusal(.conflict, "The stream already leaves out \(limit.counting("user")). Add one of them again first.")
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
