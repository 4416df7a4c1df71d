import Domain
import Foundation
import HTTPTypes

/// The codes of the contract. The page of a code and its row in `Codes.md` say the same words.
extension ProblemKind {
    static let ofRequests = [
        ProblemKind(
            .malformedRequest, "not readable; an unknown, missing or duplicate member; two tokens at once",
            "Correct the member that `detail` names by its path. The OpenAPI document has the form of each request.",
            "$.csr is missing."),
        ProblemKind(
            Refusal(.invalidDPoPProof, "htu is not the URL of this request.", reason: .wrongAudience),
            "the `DPoP` field at `POST /token`",
            "Make a new proof for this request, as `reason` says, and sign it with the device's key."),
    ]

    static let ofSessions = [
        ProblemKind(
            .sessionRequired, "a protected call without a session",
            "Take the nonce of this answer, have the user's provider sign an identity token, and send it to "
                + "`POST /sessions`.",
            "Send Authorization: Layer with a session token, or create a session."),
        ProblemKind(
            .sessionExpired, "the session, or the export token, is past its time",
            "Create a new session with the nonce of this answer.", "The session is past its time."),
        ProblemKind(
            .sessionChallenged, "the session must be renewed first",
            "Send a new identity token of the same user to `POST /sessions/renew`, with this session token.",
            "The session was not used for too long: renew it."),
        ProblemKind(
            .sessionDestroyed, "the session was ended, or never existed",
            "Forget the token and create a new session with the nonce of this answer.",
            "There is no session of this token."),
        ProblemKind(
            .sessionNotAttached, "with `session_attachment: explicit`: resume the session on this connection first",
            "Send the token to `POST /sessions/resume` on this connection, then repeat the call.",
            "Resume the session on this connection first."),
        ProblemKind(
            .providerTokenRequired, "a provider's call without a bearer token",
            "Send `Authorization: Bearer` with a token that the provider's key signed.",
            "Send Authorization: Bearer with a provider token."),
        ProblemKind(
            .providerTokenInvalid, "the token is not valid, or not for this call; `detail` says why",
            "Sign a new token. Its `iss`, `aud`, `exp` and key must be those of the registration.",
            "The token is expired."),
    ]

    static let ofPermissions = [
        ProblemKind(
            .insufficientScope, "the access token of a provider lacks the scope of the call",
            "Ask `POST /token` for an access token with the scope of this call.",
            "The access token lacks the scope provider:write."),
        ProblemKind(
            .bindingMismatch, "a live session token under another device's certificate; the session is challenged",
            "Use a session token only on the device that created the session. Renew it there.",
            "The session belongs to another device's certificate."),
        ProblemKind(
            .certificateRevoked, "the certificate is not valid any more; the connection closes",
            "Make a new key and certify the device again at `POST /certificates`.", "The certificate was revoked."),
        ProblemKind(
            Refusal(
                .userBanned, "The user is banned.", banReason: Ban.Reason(rawValue: "spam"), until: example,
                exportToken: Secret("example")),
            "the user, number or document is banned",
            "Show the user `reason` and `until`. The `export_token` opens `GET /me/export` and `DELETE /me`."),
        ProblemKind(
            Refusal(
                .notVerified, "The caller needs a higher level.", reason: .caller,
                requiredLevel: .phone),
            "the call needs a higher level",
            "Have the user prove a phone number or a card, up to `required_level`. With `reason` `partner` it is the "
                + "other person who must."),
        ProblemKind(
            .notFound, "no such thing, or it belongs to someone else",
            "Compare the path, the listener and the id. What belongs to others is answered in the same way.",
            "There is nothing here under this path."),
        ProblemKind(
            HTTPDefect.methodNotAllowed([.get, .head, .options]), "the path exists for other methods: header `Allow`",
            "Use a method that the header `Allow` names."),
        ProblemKind(
            Refusal(.conflict, "The certificate is too young to be renewed.", state: "not_due"),
            "the present state does not allow the call",
            "Read `state`, and do what is allowed in it. Repeating the same call does not help."),
        ProblemKind(
            Refusal(.gone, "The authorization is past its time.", state: "EXPIRED"),
            "the authorization is past its time", "Ask for a new authorization."),
    ]

    static let ofContent = [
        ProblemKind(
            .payloadTooLarge, "the body is larger than 64 KiB; the connection (over HTTP/2 the stream) ends",
            "Send less. No call of this service needs more than 64 KiB.", "The body is larger than 65536 bytes."),
        ProblemKind(
            HTTPDefect.targetTooLong, "path and query are too long", "Shorten the query, or page through the list."),
        ProblemKind(
            .unsupportedMediaType, "the body has another media type than the call takes",
            "Send the body with the `Content-Type` that `detail` names.", "Send the body as application/json."),
        ProblemKind(
            Refusal(.invalidCSR, "The key is too short.", reason: .weakKey),
            "the certification request, or what the gate asks for",
            "Make a new key and a new request, as `reason` says."),
        ProblemKind(
            Refusal(.invalidProviderKey, "The proof's signature is not by this key.", reason: .badProof),
            "the new provider key or its proof",
            "Send the public half of a strong key, with a proof that this key signed."),
        ProblemKind(
            Refusal(.invalidIdentityToken, "The nonce in nce was used before.", reason: .nonceUsed),
            "the identity token",
            "Have the provider sign a new token around the nonce of this answer, and correct what `reason` names."),
        ProblemKind(
            Refusal(.invalidPresenceProof, "A presence proof is required.", reason: .missing), "the presence proof",
            "Ask the user for presence again, and sign a new proof around the nonce of this answer."),
        ProblemKind(
            .verificationFailed, "the phone code is wrong, expired, used up or unknown: one answer for all",
            "Have the user read the code again. After a few tries start a new verification.",
            "The code is not right, or not any more."),
        ProblemKind(
            Refusal(
                .cardRejected, "The card did not pass every check.",
                checks: [CardCheck(.unexpired, .failed, "The card has expired.")]),
            "a hard check of the card failed", "Show the user the check that failed. Another card may pass."),
        ProblemKind(
            Refusal(.rateLimited, "Too many requests.", retryAfter: 60),
            "a limit was reached: header `Retry-After`", "Wait as many seconds as `Retry-After` says."),
        ProblemKind(
            HTTPDefect.fieldsTooLarge, "too many header fields, or too long ones",
            "Send fewer header fields. Cookies and tokens of other services do not belong here."),
    ]

    static let ofService = [
        ProblemKind(
            ServiceFailure(), "the service failed; the log has `request_id`",
            "Give the operator `request_id`. The same request may succeed later."),
        ProblemKind(
            HTTPDefect.unknownTransferCoding, "a transfer coding besides `chunked`",
            "Send the body with `Content-Length`, or with `chunked` alone."),
        ProblemKind(
            Refusal(.unavailable, "The store is not available.", retryAfter: 1),
            "the store or a needed service is away, or this node is not up to date: header `Retry-After`",
            "Repeat the call after `Retry-After`. With `reason` `outcome_unknown` look first whether the change was "
                + "made."),
    ]

    /// A moment for examples.
    private static let example = Date(timeIntervalSince1970: 1_795_348_800)

    /// Stands for what the service did not foresee.
    private struct ServiceFailure: Error {}
}
