import Domain
import Foundation
import HTTPTypes

/// The codes of the contract. The page of a code and its row in `Codes.md` use the same words.
extension ProblemKind {
    static let ofRequests = [
        ProblemKind(
            .malformedRequest, "the request is malformed: an unknown, missing or duplicate member, or two tokens",
            "Correct the member that `detail` names by its path. The OpenAPI document has the form of each request.",
            "$.csr is missing."),
        ProblemKind(
            Refusal(.invalidDPoPProof, "htu is not the URL of this request.", reason: .wrongAudience),
            "the `DPoP` field at `POST /token` is not valid",
            "Correct what `reason` names. Make a new proof for this request, signed with the device's key."),
    ]

    static let ofSessions = [
        ProblemKind(
            .sessionRequired, "a protected call without a session",
            "Have the user's provider sign an identity token with the nonce of this response, and send it to "
                + "`POST /sessions`.",
            "Send Authorization: Layer with a session token, or create a session."),
        ProblemKind(
            .sessionExpired, "the session or the export token has expired",
            "Create a new session with the nonce of this response.", "The session has expired."),
        ProblemKind(
            .sessionChallenged, "the session must be renewed first",
            "Send a new identity token of the same user to `POST /sessions/renew`, with this session token.",
            "The session was not used for too long. Renew it."),
        ProblemKind(
            .sessionDestroyed, "the session was ended, or never existed",
            "Discard the token and create a new session with the nonce of this response.",
            "This token has no session."),
        ProblemKind(
            .sessionNotAttached, "with `session_attachment: explicit`: resume the session on this connection first",
            "Send the token to `POST /sessions/resume` on this connection, then repeat the call.",
            "Resume the session on this connection first."),
        ProblemKind(
            .providerTokenRequired, "a provider's call without a bearer token",
            "Send `Authorization: Bearer` with a token that the provider's key signed.",
            "Send Authorization: Bearer with a provider token."),
        ProblemKind(
            .providerTokenInvalid, "the token is not valid, or not for this call",
            "Sign a new token. `detail` says what was wrong. `iss`, `aud`, `exp` and the key must match the registration.",
            "The token has expired."),
    ]

    static let ofPermissions = [
        ProblemKind(
            .insufficientScope, "the access token of a provider lacks the scope of the call",
            "Request an access token with the scope of this call at `POST /token`.",
            "The access token lacks the scope provider:write."),
        ProblemKind(
            .bindingMismatch, "the session belongs to another device's certificate, and is now challenged",
            "Use a session token only on the device that created the session. Renew it there.",
            "The session belongs to another device's certificate."),
        ProblemKind(
            .certificateRevoked, "the certificate is no longer valid, and the connection closes",
            "Make a new key and certify the device again at `POST /certificates`.", "The certificate was revoked."),
        ProblemKind(
            Refusal(
                .userBanned, "The user is banned.", banReason: Ban.Reason(rawValue: "spam"), until: example,
                exportToken: Secret("example")),
            "the user, number or document is banned",
            "Show the user `reason` and `until`. With `export_token` the user may call `GET /me/export` and `DELETE /me`."
        ),
        ProblemKind(
            Refusal(
                .notVerified, "The caller needs a higher level.", reason: .caller,
                requiredLevel: .phone),
            "the call needs a higher level",
            "Have the user prove a phone number or a card, up to `required_level`. With `reason` `partner` the other "
                + "user must."),
        ProblemKind(
            .notFound, "the path or the object does not exist, or belongs to another user or provider",
            "Check the path, the listener and the id.",
            "This path does not exist."),
        ProblemKind(
            HTTPDefect.methodNotAllowed([.get, .head, .options]), "the path does not support this method",
            "Use a method that the header `Allow` names."),
        ProblemKind(
            Refusal(.conflict, "The certificate is too young to be renewed.", state: "not_due"),
            "the current state does not allow the call",
            "Read `state`, and make a call that it allows. Repeating the same call does not help."),
        ProblemKind(
            Refusal(.gone, "The authorization has expired.", state: "EXPIRED"),
            "the authorization has expired", "Request a new authorization."),
    ]

    static let ofContent = [
        ProblemKind(
            .payloadTooLarge, "the body is larger than 64 KiB, and the connection (over HTTP/2 the stream) ends",
            "Send less. No call of this service needs more than 64 KiB.", "The body is larger than 65536 bytes."),
        ProblemKind(
            HTTPDefect.targetTooLong, "the path and query are too long", "Shorten the query, or page through the list."),
        ProblemKind(
            .unsupportedMediaType, "the call does not accept the media type of the body",
            "Send the body with the `Content-Type` that `detail` names.", "Send the body as application/json."),
        ProblemKind(
            Refusal(.invalidCSR, "The key is too short.", reason: .weakKey),
            "the certification request is not valid, or a certification requirement is not met",
            "Correct what `reason` names. Make a new key and a new request."),
        ProblemKind(
            Refusal(.invalidProviderKey, "The proof is not signed by this key.", reason: .badProof),
            "the new provider key or its proof is not valid",
            "Send the public key of a strong key pair, with a proof signed by it."),
        ProblemKind(
            Refusal(.invalidIdentityToken, "The nonce in nce was used before.", reason: .nonceUsed),
            "the identity token is not valid",
            "Correct what `reason` names, and have the provider sign a new token with the nonce of this response."),
        ProblemKind(
            Refusal(.invalidPresenceProof, "A presence proof is required.", reason: .missing),
            "the presence proof is missing or not valid",
            "Ask the user for presence again, and sign a new proof with the nonce of this response."),
        ProblemKind(
            .verificationFailed, "the phone code is wrong, expired, used up or unknown",
            "Have the user type the code again. After a few attempts start a new verification.",
            "The code is wrong or no longer valid."),
        ProblemKind(
            Refusal(
                .cardRejected, "The card did not pass every check.",
                checks: [CardCheck(.unexpired, .failed, "The card has expired.")]),
            "the card failed a hard check", "Show the user the check that failed. Another card may pass."),
        ProblemKind(
            Refusal(.rateLimited, "Too many requests.", retryAfter: 60),
            "a limit was reached", "Wait the number of seconds in the header `Retry-After`, then repeat the call."),
        ProblemKind(
            HTTPDefect.fieldsTooLarge, "the header fields are too many or too long",
            "Send fewer header fields. Remove cookies and tokens of other services."),
    ]

    static let ofService = [
        ProblemKind(
            ServiceFailure(), "the service failed",
            "Report `request_id` to the operator, who finds it in the log. The same request may succeed later."),
        ProblemKind(
            HTTPDefect.unknownTransferCoding, "the body has a transfer coding other than `chunked`",
            "Send the body with `Content-Length`, or with only `chunked`."),
        ProblemKind(
            Refusal(.unavailable, "The store is not available.", retryAfter: 1),
            "the store or a required service is unavailable, or this node is not up to date",
            "Repeat the call after `Retry-After`. With `reason` `outcome_unknown` first check whether the change was "
                + "made."),
    ]

    private static let example = Date(timeIntervalSince1970: 1_795_348_800)

    /// An example of an unexpected error.
    private struct ServiceFailure: Error {}
}
