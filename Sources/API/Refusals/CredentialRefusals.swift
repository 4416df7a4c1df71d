import Domain
import Foundation

/// Refusals of header fields and of the credentials in them.
extension Refusal {
    static func authorizationTooLong(allowed: Int) -> Refusal {
        Refusal(.malformedRequest, "The Authorization header is longer than \(allowed) bytes. Send one token.")
    }

    static let twoTokens = Refusal(
        .malformedRequest, "The Authorization header contains two tokens. Send one.")

    /// - Parameter defect: a clause that says what is wrong with the field.
    static func authorizationUnreadable(_ defect: String) -> Refusal {
        Refusal(.malformedRequest, "The Authorization header is malformed: \(defect). Correct it.")
    }

    /// The refusal of an `app-id` in the field rather than in the body.
    static func authorizedApplication(_ refusal: Refusal) -> Refusal {
        Refusal(refusal.code, "app-id of Authorization: \(refusal.detail)")
    }

    static let clientCertificateRequired = Refusal(
        .certificateRevoked, "This listener requires a client certificate. Connect with one.")

    static let sessionRequired = Refusal(
        .sessionRequired, "This call requires a session. Send Authorization: Layer with a session token, or create one."
    )

    static let sessionTokenRequired = Refusal(
        .sessionRequired, "The session token is missing. Send Authorization: Layer session-token=\"…\".")

    static let exportTokenOutOfPlace = Refusal(
        .sessionRequired, "An export token is valid only for GET /me/export and DELETE /me. Send a session token.")

    static let identityTokenOutOfPlace = Refusal(
        .malformedRequest, "This path does not accept an identity token. Create the session at POST /sessions.")

    static let identityTokenForSession = Refusal(
        .malformedRequest, "This path does not accept an identity token. Send the session's token in Authorization.")

    static let foreignRealm = Refusal(
        .invalidIdentityToken, "The realm is not the one of this service. Send the one of WWW-Authenticate or omit it.",
        reason: .wrongAudience)

    static let nonceInChallenge = Refusal(
        .sessionRequired, "The nonce is in WWW-Authenticate. POST /nonces also returns one.")

    static func severalFields(_ name: String) -> Refusal {
        Refusal(.malformedRequest, "The request has several \(name) fields. Send one.")
    }

    static let severalDPoPProofs = Refusal(
        .invalidDPoPProof, "The request has several DPoP fields. Send one.", reason: .malformed)

    /// The refusal of a banned user, for the page of its code.
    static func exampleOfBan(until end: Date) -> Refusal {
        Refusal(
            .userBanned, "The user is banned.", banReason: Ban.Reason(rawValue: "spam"), until: end,
            exportToken: Secret("example"))
    }

    static let tokenInURL = Refusal(
        .providerTokenRequired, "The URL contains the token. Send it in the Authorization header.")
}

/// Refusals of requests for tokens.
extension Refusal {
    static func requestedTypeMustBe(_ type: String) -> Refusal {
        Refusal(.malformedRequest, "requested_token_type must be \(type) or omitted.")
    }

    static func subjectTypeMustBe(_ sessionType: String, or idTokenType: String) -> Refusal {
        Refusal(
            .malformedRequest,
            "subject_token_type must be \(sessionType) for a session's token, or \(idTokenType).")
    }

    static let audienceElsewhere = Refusal(
        .malformedRequest, "The audience or resource is not this service. Omit it.", reason: .invalidTarget)

    static let audienceRequired = Refusal(
        .malformedRequest, "The form lacks the audience. Send the provider's id.")

    static let delegationUnsupported = Refusal(
        .malformedRequest, "Delegation is not supported. Remove actor_token.")

    static let severalClientProofs = Refusal(
        .malformedRequest,
        "The request has more than one client authentication. Send only one of Authorization, client_secret and client_assertion."
    )

    static func unknownGrant<Grant: RawRepresentable & CaseIterable>(
        _ grants: Grant.Type
    ) -> Refusal where Grant.RawValue == String {
        let known = grants.allCases.map(\.rawValue).joined(separator: ", ")
        return Refusal(
            .malformedRequest, "The grant_type is unknown. It must be one of \(known).", reason: .unsupportedGrantType)
    }

    static func grantOfProviders(at endpoint: String) -> Refusal {
        Refusal(
            .malformedRequest, "This grant is for providers. They request tokens at \(endpoint).",
            reason: .unsupportedGrantType)
    }

    static func grantOfDevices(at endpoint: String) -> Refusal {
        Refusal(
            .malformedRequest, "This grant is for devices. They request tokens at \(endpoint), with mutual TLS.",
            reason: .unsupportedGrantType)
    }
}
