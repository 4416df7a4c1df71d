/// Refusals of sessions, nonces and identity tokens.
package extension Refusal {
    static let sessionChallenged = Refusal(
        .sessionChallenged, "The session is challenged. Renew it with a fresh identity token.")

    static let sessionExpired = Refusal(.sessionExpired, "The session has expired. Create a new one.")

    /// Also for a session that never existed.
    static let sessionEnded = Refusal(.sessionDestroyed, "The session was ended. Create a new one.")

    /// For another kind of token, such as an access token.
    static let notSessionToken = Refusal(
        .sessionDestroyed, "This is not a session token. Send the session_token that the sign-in returned.")

    static let sessionNotAttached = Refusal(
        .sessionNotAttached, "The session is not attached to this connection. Resume it here first.")

    static let sessionOfAnotherUser = Refusal(
        .sessionDestroyed, "This user has no such session. Create a new one.")

    static let sessionRenewedElsewhere = Refusal(
        .sessionDestroyed, "The session was ended or renewed at the same time. Use the renewed one, or create another.")

    static let sessionOfAnotherDevice = Refusal(
        .bindingMismatch,
        "The session is bound to the certificate of another device and is now challenged. Create one for this device.")

    static let sessionTooOld = Refusal(
        .sessionChallenged,
        "This call requires a session that was created or renewed in the last ten minutes. Renew it or sign in again.")

    static let unknownOwnSession = Refusal(.notFound, "The user has no such session. Check the id.")

    static func unknownSession(_ id: SessionID) -> Refusal {
        Refusal(.notFound, "There is no session \(id). Check the id.")
    }

    /// For a command that the session's state does not allow.
    static func sessionIs(_ state: String) -> Refusal {
        Refusal(.conflict, "The session is already \(state). Nothing was changed.", state: state)
    }

    static func notRenewable(state: String) -> Refusal {
        Refusal(.conflict, "The session is not challenged, so it needs no renewal. Use it as it is.", state: state)
    }

    static func renewedByAnotherUser(state: String) -> Refusal {
        Refusal(
            .conflict, "The identity token names another user than the session. Send a token of the session's user.",
            state: state)
    }

    static let appForbidden = Refusal(
        .invalidIdentityToken, "The user forbids this app. The user can allow it again in another app.",
        reason: .appForbidden)

    static let unknownOwnApp = Refusal(.notFound, "Your provider has no such app. Check the app_id.")

    static func unknownApp(_ id: String) -> Refusal {
        Refusal(.notFound, "The user's provider has no app \(id). Check the app_id.")
    }

    /// A user who forbids the only app could not allow it again.
    static let appOfThisSession = Refusal(
        .conflict, "This session is one of that app. Forbid the app in another one, or end the session.",
        state: "current")

    static let exportTokenUnknown = Refusal(
        .sessionRequired, "The export token was not issued to this device. Sign in on this device to get one.")

    static let exportTokenExpired = Refusal(
        .sessionExpired, "The export token has expired. Sign in again to get a new one.")

    static let nonceUnknown = Refusal(
        .invalidIdentityToken, "This service did not issue the nonce in the token. Get one and sign again.",
        reason: .nonceUnknown)

    static let nonceOfAnotherDevice = Refusal(
        .invalidIdentityToken,
        "The nonce in the token was issued to another device certificate. Get one with this certificate and sign again.",
        reason: .nonceOtherDevice)

    static let nonceUsed = Refusal(
        .invalidIdentityToken, "The nonce in the token was used before. Get a new one and sign again.",
        reason: .nonceUsed)

    /// It would expire later than any nonce that is issued now.
    static let nonceOfWrongClock = Refusal(
        .invalidIdentityToken, "The nonce in the token was issued by a wrong clock. Get a new one and sign again.",
        reason: .nonceExpired)

    static func nonceExpired(secondsAgo: Int) -> Refusal {
        Refusal(
            .invalidIdentityToken,
            "The nonce in the token expired \(secondsAgo) s ago. Get a new one and sign again.", reason: .nonceExpired)
    }

    static let unknownIssuer = Refusal(
        .invalidIdentityToken, "The claim iss names no registered provider. It must be the provider_id.",
        reason: .unknownIssuer)

    static let keyRetired = Refusal(
        .invalidIdentityToken,
        "The key that kid names was retired, or its provider was disabled. Sign with an active key.",
        reason: .keyRetired)

    static let tokenOfAnotherApp = Refusal(
        .invalidIdentityToken, "The token's app_id names another app than the request. Send the same app in both.",
        reason: .wrongAudience)

    static let tokenOfAnotherAppThanSession = Refusal(
        .invalidIdentityToken, "The token's app_id names another app than the session's. Sign in with that app.",
        reason: .wrongAudience)

    /// - Parameter subject: the app's id as the caller's form of sign-in names it, also in the next refusals.
    static func providerIDAsApplication(_ subject: Subject) -> Refusal {
        Refusal(
            .malformedRequest, "This is the provider_id. Send the app_id of an app of this provider.", about: subject)
    }

    static func issuerClientAsApplication(_ subject: Subject) -> Refusal {
        Refusal(
            .malformedRequest, "This is the client id at the issuer. Send the app_id that this service gave out.",
            about: subject)
    }

    static func unknownApplication(_ subject: Subject) -> Refusal {
        Refusal(
            .malformedRequest, "The provider that signed the identity token has no such app. Check the id.",
            about: subject)
    }

    static func applicationRequired(among count: Int, _ subject: Subject) -> Refusal {
        Refusal(
            .malformedRequest, "The provider has \(count.counting("app")), so the app must be named. Send its id.",
            about: subject)
    }

    static let clientOfAnotherApp = Refusal(
        .malformedRequest, "This is not the app_id of the session's app. Send that one or omit it.", about: .clientID)

    static let foreignAudience = Refusal(
        .malformedRequest,
        "The audience or resource is neither the id of the session's provider nor a URL registered for it. "
            + "Send one of these.",
        reason: .invalidTarget)

    static let proofWithoutCertificate = Refusal(
        .invalidDPoPProof, "The connection has no client certificate for the proof. Connect with one.",
        reason: .unknownKey)

    static let endedByUserOrDevice = Refusal(
        .malformedRequest,
        "Ended sessions are listed for all providers, one provider or one key. Read the history of a user instead.")
}
