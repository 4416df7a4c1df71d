/// Refusals of what wallets present.
package extension Refusal {
    static let walletsDisabled = Refusal(
        .notFound, "The service accepts no wallets. The operator enables them in wallet.yaml.")

    static let channelDisabled = Refusal(
        .notFound, "The service reaches no wallets by this channel. The operator allows channels in wallet.yaml.")

    static let formatsDisabled = Refusal(
        .notFound, "No format that the service accepts has this statement. The operator allows formats in wallet.yaml.")

    static let presentationFormUnknown = Refusal(
        .malformedRequest, "The protocol is unknown. Send the protocol and the data that the wallet's answer has.",
        about: .walletProtocol)

    static let originUnregistered = Refusal(
        .malformedRequest,
        "The origin is not registered for this app. The operator registers it with `countersign provider origin add`.",
        about: .origin)

    static let returnAddressUnregistered = Refusal(
        .malformedRequest,
        "The address is not registered for this app. The operator registers it with `countersign provider origin add`.",
        about: .returnAddress)

    static func originRegistered(_ origin: String) -> Refusal {
        Refusal(.conflict, "\(origin) is already registered for the app. Nothing is left to add.", state: "registered")
    }

    static func unknownOrigin(_ origin: String) -> Refusal {
        Refusal(.notFound, "\(origin) is registered for no app of the provider. Check the spelling.")
    }

    static let unknownPresentation = Refusal(
        .notFound, "This session has begun no such presentation. Begin one at POST /identity-cards/presentations.")

    static let otherChannel = Refusal(
        .malformedRequest,
        "The presentation has another channel. A response code is for same_device, and protocol and data are for dc_api."
    )

    static let unknownResponseCode = Refusal(
        .notFound, "The response code is not one of this presentation. Begin a new one.")

    static let unknownWalletRequest = Refusal(
        .notFound, "The request is unknown, was answered or has expired. The app begins a new one.")

    static let walletNonceTooLong = Refusal(
        .malformedRequest, "The wallet_nonce is longer than 512 bytes.")

    static let presentationAnswered = Refusal(
        .conflict, "The request was answered already. Begin a new presentation.", state: "answered")

    /// - Parameter retryAfter: the seconds until the request expires. No answer to it is tried again.
    static func tooManyAnswers(retryAfter: Int) -> Refusal {
        Refusal(
            .rateLimited, "The limit of answers to this request is reached. Begin a new presentation.",
            retryAfter: retryAfter)
    }

    static let presentationExpired = Refusal(
        .conflict, "The request has expired. Begin a new presentation.", state: "expired")

    static func presentationRejected(_ defect: PresentationDefect) -> Refusal {
        Refusal(.presentationRejected, defect.detail, reason: Reason(defect.reason))
    }
}

extension Refusal.Reason {
    init(_ reason: PresentationDefect.Reason) {
        self =
            switch reason {
            case .malformed: .malformed
            case .undecryptable: .undecryptable
            case .wrongKey: .wrongKey
            case .notAsked: .notAsked
            case .incomplete: .incomplete
            case .surplus: .surplus
            case .mixed: .mixed
            case .unknownIssuer: .unknownIssuer
            case .issuerCertificate: .issuerCertificate
            case .issuerSignature: .issuerSignature
            case .digest: .digest
            case .notYetValid: .notYetValid
            case .expired: .expired
            case .revoked: .revoked
            case .suspended: .suspended
            case .statusUnknown: .statusUnknown
            case .unbound: .unbound
            case .deviceSignature: .deviceSignature
            case .replayed: .replayed
            case .documentExpired: .documentExpired
            }
    }
}
