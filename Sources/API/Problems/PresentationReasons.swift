import Domain

/// The reasons for which presentations of wallets are refused.
extension ProblemReason {
    private static func ofPresentation(_ reason: Refusal.Reason, _ cause: String, _ mend: String) -> ProblemReason {
        ProblemReason(
            .presentationRejected, reason, cause, mend, "POST /identity-cards/presentations/{id}",
            #"{"protocol":"org-iso-mdoc","data":{"response":"<the wallet's answer>"}}"#)
    }

    static let ofPresentations = [
        ofPresentation(
            .malformed, "`data` or a part of it has another form than its standard requires",
            "Hand the wallet's answer over unchanged."),
        ofPresentation(
            .undecryptable, "the answer cannot be decrypted with the key of the request",
            "Send the answer that the wallet gave to this request, with its own `protocol`."),
        ofPresentation(
            .wrongKey, "the answer is encrypted for the key of another request",
            "Send the answer to the presentation whose request the wallet got."),
        ofPresentation(
            .notAsked, "the wallet presents another credential than those of the request",
            "Have the user choose a credential that the wallet offers for the request."),
        ofPresentation(
            .incomplete, "a credential or claim of the request is missing",
            "Have the user present a credential with all claims of the request."),
        ofPresentation(
            .surplus, "the wallet presents more than the request asks for, besides statements about other ages",
            "Have the user update the wallet, or use another one."),
        ofPresentation(
            .mixed, "the wallet presents credentials of different persons",
            "Have the user present one credential. If it is reported often, ask the operator about the user."),
        ofPresentation(
            .unknownIssuer, "no issuer that the service trusts certified the signer of the credential",
            "Ask the operator which issuers are trusted, and for which types."),
        ofPresentation(
            .issuerCertificate, "the signer's certificate is not valid for this credential",
            "Have the user present another credential. Report the issuer to the operator."),
        ofPresentation(
            .issuerSignature, "the issuer's signature does not verify",
            "Have the user renew the credential in the wallet."),
        ofPresentation(
            .digest, "a claim is not one that the issuer signed",
            "Have the user renew the credential in the wallet."),
        ofPresentation(
            .notYetValid, "the credential is valid later",
            "Have the user wait for the first day of validity, or present another credential."),
        ofPresentation(
            .expired, "the validity of the credential has ended",
            "Have the user renew the credential in the wallet."),
        ofPresentation(
            .revoked, "the issuer has revoked the credential",
            "Have the user ask the issuer for a new credential."),
        ofPresentation(
            .suspended, "the issuer has suspended the credential",
            "Have the user ask the issuer, and try again later."),
        ofPresentation(
            .statusUnknown, "the issuer's status list cannot be read, or has no answer",
            "Begin a new presentation later."),
        ofPresentation(
            .unbound, "nothing proves that the holder's device presented the credential",
            "Have the user use a wallet that signs presentations with the key of the credential."),
        ofPresentation(
            .deviceSignature, "the signature of the holder's device does not verify for this request",
            "Pass the request to the wallet from the page or app of its `origin`, and begin a new presentation."),
        ofPresentation(
            .replayed, "the answer or the proof of the holder's device was made for another request, or is old",
            "Begin a new presentation, and send the answer at once."),
        ofPresentation(
            .documentExpired, "the last day of validity that is printed on the document has passed",
            "Have the user renew the document."),
    ]
}
