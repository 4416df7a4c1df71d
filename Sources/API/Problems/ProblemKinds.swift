import Domain
import Foundation
import HTTPTypes

/// The codes of the contract. The page of a code and its row in `Codes.md` use the same words.
extension ProblemKind {
    static let ofRequests = [
        ProblemKind(
            Refusal.memberMissing("csr"),
            "the request is malformed: an unknown, missing or duplicate member or parameter, or two tokens",
            "Correct the member that `detail` names by its path. The OpenAPI document has the form of each request."),
        ProblemKind(
            Refusal.severalDPoPProofs,
            "the `DPoP` field at `POST /token` is not valid",
            "Correct what `reason` names. Make a new proof for this request, signed with the device's key."),
    ]

    static let ofSessions = [
        ProblemKind(
            Refusal.sessionRequired, "a protected call without a session",
            "Have the user's provider sign an identity token with the nonce of this response, and send it to "
                + "`POST /sessions`."),
        ProblemKind(
            Refusal.sessionExpired, "the session or the export token has expired",
            "Create a new session with the nonce of this response."),
        ProblemKind(
            Refusal.sessionChallenged, "the session must be renewed first",
            "Send a new identity token of the same user to `POST /sessions/renew`, with this session token."),
        ProblemKind(
            Refusal.sessionEnded, "the session was ended, or never existed",
            "Discard the token and create a new session with the nonce of this response."),
        ProblemKind(
            Refusal.sessionNotAttached,
            "with `session_attachment: explicit`: resume the session on this connection first",
            "Send the token to `POST /sessions/resume` on this connection, then repeat the call."),
        ProblemKind(
            Refusal.bearerRequired, "a provider's call without a bearer token",
            "Send `Authorization: Bearer` with a token that the provider's key signed."),
        ProblemKind(
            Refusal.accessTokenExpired, "the token is not valid, or not for this call",
            "Sign a new token. `detail` says what was wrong. `iss`, `aud`, `exp` and the key must match the registration."
        ),
    ]

    static let ofPermissions = [
        ProblemKind(
            Refusal.scopeRequired(.sessionsEnd), "the access token of a provider lacks the scope of the call",
            "Request an access token with the scope of this call at `POST /token`."),
        ProblemKind(
            Refusal.sessionOfAnotherDevice,
            "the session belongs to another device's certificate, and is now challenged",
            "Use a session token only on the device that created the session. Renew it there."),
        ProblemKind(
            Refusal.certificateRevoked, "the certificate is no longer valid, and the connection closes",
            "Make a new key and certify the device again at `POST /certificates`."),
        ProblemKind(
            Refusal.exampleOfBan(until: example),
            "the user, number or document is banned",
            "Show the user `reason` and `until`. With `export_token` the user may call `GET /me/export` and `DELETE /me`."
        ),
        ProblemKind(
            Refusal.levelRequired(.phone, from: .none),
            "the call needs a higher level",
            "Have the user prove a phone number or a card, up to `required_level`. With `reason` `partner` the other "
                + "user must."),
        ProblemKind(
            Refusal.unknownPath, "the path or the object does not exist, or belongs to another user or provider",
            "Check the path, the listener and the id."),
        ProblemKind(
            HTTPDefect.methodNotAllowed([.get, .head, .options]), "the path does not support this method",
            "Use a method that the header `Allow` names."),
        ProblemKind(
            Refusal.renewalNotDue(until: example),
            "the current state does not allow the call",
            "Read `state`, and make a call that it allows. Repeating the same call does not help."),
        ProblemKind(
            Refusal.authorizationExpired(state: "EXPIRED"),
            "the authorization has expired", "Request a new authorization."),
    ]

    static let ofContent = [
        ProblemKind(
            Refusal.bodyLarger(than: 65_536),
            "the body or the content of a message is larger than 64 KiB, and the connection (over HTTP/2 the stream) "
                + "ends",
            "Send less. No call needs more than 64 KiB, apart from the escapes of a message."),
        ProblemKind(
            HTTPDefect.targetTooLong, "the path and query are too long", "Shorten the query, or page through the list."),
        ProblemKind(
            Refusal.wrongMediaType(wanted: "application/json"), "the call does not accept the media type of the body",
            "Send the body with the `Content-Type` that `detail` names."),
        ProblemKind(
            Refusal.csrSignatureInvalid,
            "the certification request is not valid, or a certification requirement is not met",
            "Correct what `reason` names. Make a new key and a new request."),
        ProblemKind(
            Refusal.keyProofSignatureInvalid,
            "the new provider key or its proof is not valid",
            "Send the public key of a strong key pair, with a proof signed by it."),
        ProblemKind(
            Refusal.nonceUsed,
            "the identity token is not valid",
            "Correct what `reason` names, and have the provider sign a new token with the nonce of this response."),
        ProblemKind(
            Refusal.presenceProofRequired,
            "the presence proof, or the captcha sent with it, is missing or not valid",
            "Ask the user for presence again, and sign a new proof with the nonce of this response."),
        ProblemKind(
            Refusal.wrongCode, "the phone code is wrong, expired, used up or unknown",
            "Have the user type the code again. After a few attempts start a new verification."),
        ProblemKind(
            Refusal.cardRejected([CardCheck(.unexpired, .failed, "The card has expired.")]),
            "the card failed a hard check", "Show the user the check that failed. Another card may pass."),
        ProblemKind(
            Refusal.presentationRejected(
                PresentationDefect(.revoked, "The issuer has revoked the credential.")),
            "what the wallet presented is not accepted",
            "Read `reason`. After `malformed`, `undecryptable` and `wrong_key` answer the same request again. After any "
                + "other reason begin a new presentation."),
        ProblemKind(
            Refusal.tooManyRequests(retryAfter: 60),
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
            Refusal.storeUnavailable("example"),
            "the store or a required service is unavailable, or this node is not up to date",
            "Repeat the call after `Retry-After`. With `reason` `outcome_unknown` first check whether the change was "
                + "made."),
    ]

    private static let example = Date(timeIntervalSince1970: 1_795_348_800)

    /// An example of an unexpected error.
    private struct ServiceFailure: Error {}
}
