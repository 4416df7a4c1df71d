import Domain
import Encoding

/// A kind of token with an example: a call that sends it, its header and its claims.
private struct TokenExample {
    let code: Refusal.Code
    let noun: String
    let call: [String]
    let header: KeyValuePairs<String, JSONValue?>
    let claims: KeyValuePairs<String, JSONValue?>

    /// - Parameters:
    ///   - header: the parameters of the header that the reason concerns.
    ///   - claims: the claims that it concerns.
    func row(
        _ reason: Refusal.Reason, _ cause: String, _ mend: String, header names: [String] = [], claims: [String] = []
    ) -> ProblemReason {
        let parts = [("header", Self.part(header, names)), ("claims", Self.part(self.claims, claims))]
        let shown = parts.compactMap { name, part in part.map { "\(name): \($0)" } }
        return ProblemReason(code, reason, cause, mend, lines: call + shown)
    }

    /// The members of an object that have these names; `nil` if no name is given.
    private static func part(_ members: KeyValuePairs<String, JSONValue?>, _ names: [String]) -> String? {
        guard !names.isEmpty, case .object(let all) = JSONValue.object(members) else { return nil }
        return JSONValue.object(all.filter { names.contains($0.name) }).jsonText
    }

    /// The reasons that every kind of token has.
    ///
    /// - Parameters:
    ///   - unknownKey: when the key is unknown.
    ///   - keyMend: what to do then.
    ///   - keyNames: the parameters of the header that name the key.
    ///   - lives: the claims that limit the token's life.
    func shared(unknownKey: String, keyMend: String, keyNames: [String], lives: [String]) -> [ProblemReason] {
        let (headerNames, claimNames) = (header.map(\.key), claims.map(\.key))
        return [
            row(
                .malformed,
                "the \(noun) is not a compact JWS of two JSON objects, or a claim has the wrong type or form",
                "Correct the part that `detail` names, and sign again.", header: headerNames, claims: claimNames),
            row(
                .unsupportedHeader,
                "the header has a parameter that changes how the token is read, such as `crit`, `b64` or `zip`",
                "Remove the parameter that `detail` names, and sign again.", header: headerNames),
            row(
                .wrongType, "`typ` or `cty` is missing, or names another kind of token",
                "Send the \(noun) in this place, with `typ` and `cty` as in the example.",
                header: headerNames.filter { ["typ", "cty"].contains($0) }),
            row(.unknownKey, unknownKey, keyMend, header: keyNames),
            row(
                .algorithmMismatch, "`alg` is not the algorithm of the key",
                "Set `alg` to the algorithm of the key, and sign with that algorithm.", header: ["alg"] + keyNames),
            row(
                .badSignature, "the signature does not verify with the key",
                "Sign the exact bytes that are sent, with the private half of that key. For ES256 the signature is R and S "
                    + "in 64 bytes, not DER.", header: ["alg"] + keyNames),
            row(
                .missingClaim, "a required claim is missing", "Add the claim that `detail` names, and sign again.",
                claims: claimNames),
            row(
                .expired, "the time of the \(noun) has passed",
                "Sign a new one immediately before it is sent. Correct the signer's clock if that does not help.",
                claims: lives),
            row(
                .notYetValid, "the \(noun) is from the future by the service's clock",
                "Correct the signer's clock, and give `iat` in seconds since 1970.", claims: lives),
        ]
    }

    /// The reasons of a token with a nonce.
    func ofNonces(from place: String) -> [ProblemReason] {
        let fresh = "Sign again with the `nonce` of this response, or with one of `POST /nonces`."
        return [
            row(
                .nonceUnknown, "this service did not issue the nonce",
                "\(fresh) Send the nonce unchanged in \(place).", claims: ["nce"]),
            row(.nonceExpired, "the nonce has expired", fresh, claims: ["nce"]),
            row(
                .nonceUsed, "the nonce was used before", "\(fresh) A nonce is valid for one attempt that succeeds.",
                claims: ["nce"]),
            row(
                .nonceOtherDevice, "the nonce was issued to another device certificate",
                "Get a nonce on a connection with this certificate, and sign again.", claims: ["nce"]),
        ]
    }

    /// The reasons of a token of a provider.
    func ofProviders(audience: String, audienceMend: String) -> [ProblemReason] {
        [
            row(
                .unknownIssuer, "`iss` is not a registered and enabled provider",
                "Set `iss` to the `provider_id` of the registration. If it is right, ask the operator whether the provider "
                    + "is enabled.", claims: ["iss"]),
            row(
                .keyRetired, "the key that `kid` names was retired or revoked",
                "Sign with an active key. `GET /provider` lists the keys and their states.", header: ["alg", "kid"]),
            row(.wrongAudience, audience, audienceMend, claims: ["aud"]),
        ]
    }
}

/// The reasons of identity tokens, presence proofs, events and DPoP proofs.
extension ProblemReason {
    private static let issued = JSONValue.integer(1_795_348_800)
    private static let algorithm = JSONValue.string("ES256")
    private static let registeredKey = "`kid` is missing, or is not the id of a key of the provider"
    private static let registeredKeyMend =
        "Set `kid` to the `key_id` that the registration returned, and `iss` to the provider of that key."

    static let ofIdentityTokens: [ProblemReason] = {
        let token = TokenExample(
            code: .invalidIdentityToken, noun: "identity token",
            call: ["POST /sessions", #"{"identity_token":"<identity token>"}"#],
            header: [
                "typ": .string("JWS"), "cty": .string("layer-eit;v=1"), "alg": algorithm, "kid": .string("<key_id>"),
            ],
            claims: [
                "iss": .string("<provider_id>"), "prn": .string("alice"), "nce": .string("<nonce>"),
                "aud": .string("<realm>"), "iat": issued, "exp": .integer(1_795_349_100),
            ])
        let life = token.row(
            .lifetimeTooLong, "from `iat` to `exp` is longer than the policy allows, ten minutes by default",
            "Set `exp` to five minutes after `iat`, and sign for each sign-in.", claims: ["iat", "exp"])
        let app = token.row(
            .appForbidden, "the user forbids this app",
            "Tell the user. The user can allow the app again in another app of the provider.")
        return token.shared(
            unknownKey: registeredKey, keyMend: registeredKeyMend, keyNames: ["kid"], lives: ["iat", "exp"])
            + token.ofProviders(
                audience:
                    "`aud` or the header's `realm` is not this service, or `app_id` is not the app of the request",
                audienceMend: "Set `aud` to the realm, or leave it out. Send the same `app_id` in token and request.")
            + [life] + token.ofNonces(from: "the claim `nce`") + [app]
    }()

    static let ofPresenceProofs: [ProblemReason] = {
        let proof = TokenExample(
            code: .invalidPresenceProof, noun: "presence proof",
            call: [
                "POST /phone-verifications", #"{"phone_number":"+12025550123","presence":"<presence proof>"}"#,
            ],
            header: ["typ": .string("JWS"), "cty": .string("layer-presence;v=1"), "alg": algorithm],
            claims: [
                "nce": .string("<nonce>"), "iat": issued, "method": .string("touch_id"),
                "phone_sha256": .string("<base64url SHA-256 of +12025550123>"),
            ])
        return [
            proof.row(
                .missing, "the policy requires a presence proof, and the request has none",
                "Ask the user for presence, sign a proof with the presence key, and send it as `presence`.",
                header: proof.header.map(\.key), claims: proof.claims.map(\.key))
        ]
            + proof.shared(
                unknownKey: "the device registered no presence key",
                keyMend: "Certify the device again with a `presence_key`, and sign with that key.", keyNames: [],
                lives: ["iat"])
            + proof.ofNonces(from: "the claim `nce`") + [
                ProblemReason(
                    .invalidPresenceProof, .captcha, "the captcha was not accepted",
                    "Solve another captcha, and send its response once.", "POST /phone-verifications",
                    #"{"phone_number":"+12025550123","captcha":"<response of the captcha>"}"#)
            ]
    }()

    static let ofProviderEvents: [ProblemReason] = {
        let event = TokenExample(
            code: .providerTokenInvalid, noun: "security event token",
            call: ["POST /provider/events", "Content-Type: application/secevent+jwt", "<security event token>"],
            header: ["typ": .string("secevent+jwt"), "alg": algorithm, "kid": .string("<key_id>")],
            claims: [
                "iss": .string("<provider_id>"), "aud": .string("<realm>"), "iat": issued, "jti": .string("<a new id>"),
                "sub_id": .object([
                    "format": .string("iss_sub"), "iss": .string("<provider_id>"), "sub": .string("alice"),
                ]),
                "events": .object([JSONMember(name: ProviderEvent.sessionRevokedType, value: .object([]))]),
            ])
        return event.shared(
            unknownKey: registeredKey, keyMend: registeredKeyMend, keyNames: ["kid"], lives: ["iat"])
            + event.ofProviders(
                audience: "`aud` is not this service", audienceMend: "Set `aud` to the realm or to the issuer's URL.")
            + [
                event.row(
                    .unexpectedState, "a verification has a `state`, but this service requested none",
                    "Leave `state` out of a verification that your service starts.")
            ]
    }()

    static let ofDPoPProofs: [ProblemReason] = {
        let key = JSONValue.object([
            "kty": .string("EC"), "crv": .string("P-256"), "x": .string("<x>"), "y": .string("<y>"),
        ])
        let proof = TokenExample(
            code: .invalidDPoPProof, noun: "DPoP proof", call: ["POST /token", "DPoP: <DPoP proof>"],
            header: ["typ": .string("dpop+jwt"), "alg": algorithm, "jwk": key],
            claims: [
                "jti": .string("<a new id>"), "htm": .string("POST"), "htu": .string("https://<client listener>/token"),
                "iat": issued,
            ])
        let publicOnly = "Send the public half of the device's key as `jwk`, the key of its certificate."
        return proof.shared(
            unknownKey: "`jwk` is not the key of the device's certificate",
            keyMend: "Connect with the device's certificate. Sign with its key, and send the public half as `jwk`.",
            keyNames: ["jwk"], lives: ["iat"]) + [
                proof.row(
                    .wrongAudience, "`htm` or `htu` is not the method or URL of the request",
                    "Set `htm` to `POST`, and `htu` to the URL of the token endpoint that `detail` names.",
                    claims: ["htm", "htu"]),
                proof.row(
                    .privateKey, "`jwk` has a private or secret member",
                    "Regard the key as leaked, and certify a new one. \(publicOnly)", header: ["jwk"]),
                proof.row(.weakKey, "the key in `jwk` is weak", publicOnly, header: ["jwk"]),
                proof.row(
                    .unsupportedKey, "the type, curve or use of the key in `jwk` is not supported", publicOnly,
                    header: ["jwk"]),
            ]
    }()
}
