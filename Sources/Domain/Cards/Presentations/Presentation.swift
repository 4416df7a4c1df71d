import Encoding
import Foundation

/// A request of a user's device to the user's wallet, and what came of it.
package struct Presentation: Sendable, Equatable {
    package let id: PresentationID
    package let userID: UserID
    package let deviceID: DeviceID
    package let sessionID: SessionID
    package let channel: Channel
    package let wanted: Wanted
    package let state: State
    /// 32 random bytes, which the wallet's answer is bound to.
    package let nonce: [UInt8]
    /// The web page or native app that calls the wallet, or the address to which a wallet on the same device returns.
    package let origin: String
    /// Why the answer was refused; `nil` in every other state.
    package let reason: String?
    /// How many answers were tried, with the present one.
    package let attempts: Int
    package let createdAt: Date
    /// The end of the time for the answer. After the arrival of an answer by redirect: of the time to redeem it.
    package let expiresAt: Date

    package init(
        id: PresentationID, userID: UserID, deviceID: DeviceID, sessionID: SessionID, channel: Channel,
        wanted: Wanted, state: State, nonce: [UInt8], origin: String, reason: String?, attempts: Int, createdAt: Date,
        expiresAt: Date
    ) {
        self.id = id
        self.userID = userID
        self.deviceID = deviceID
        self.sessionID = sessionID
        self.channel = channel
        self.wanted = wanted
        self.state = state
        self.nonce = nonce
        self.origin = origin
        self.reason = reason
        self.attempts = attempts
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}

package extension Presentation {
    /// What the wallet is asked for. The raw values are the contract's.
    enum Wanted: String, Sendable, CaseIterable {
        case identity
        case over18 = "age_over_18"
        case over21 = "age_over_21"

        /// The age that is to be proved; `nil` for an identity.
        package var age: Int? {
            switch self {
            case .identity: nil
            case .over18: 18
            case .over21: 21
            }
        }
    }

    /// The ways from the app to a wallet and back. The raw values are the contract's.
    enum Channel: String, Sendable, CaseIterable {
        /// The Digital Credentials API of a web page, or the Credential Manager of Android.
        case digitalCredentials = "dc_api"
        /// A link to a wallet on the same device, which fetches the request, posts its answer and returns to the app.
        case sameDevice = "same_device"
    }

    /// The state, which an answer changes once, and a redirect twice. The raw values are the contract's.
    enum State: String, Sendable, CaseIterable {
        case open
        /// A wallet's answer has arrived and was verified. The app has not redeemed it yet.
        case received
        case accepted, refused
        /// Nobody answered in time, or nobody redeemed the answer. It is stored when an answer is discarded.
        case expired
    }

    /// The ways in which an app hands a request to a wallet. The raw values are those of the Digital Credentials API.
    enum WalletProtocol: String, Sendable, CaseIterable {
        /// OpenID4VP 1.0 with a signed request.
        case openID4VP = "openid4vp-v1-signed"
        /// ISO/IEC 18013-7 Annex C, which iPhones use.
        case isoDocument = "org-iso-mdoc"
    }

    /// The length of a nonce in bytes.
    static let nonceLength = 32
    /// The answers that are tried. A wallet gives one. A second one follows if the first cannot be parsed.
    static let maximumAttempts = 5
    /// The most presentations of a user that may be open at the same time.
    static let maximumOpen = 3
    /// How long an answer by redirect waits for its app, seconds.
    static let redemptionTime: TimeInterval = 120

    /// The state as the app sees it.
    func state(at moment: Date) -> State {
        switch state {
        case .open, .received: expiresAt > moment ? state : .expired
        case .accepted, .refused, .expired: state
        }
    }

    /// Requires that an answer may be tried.
    ///
    /// - Parameter isCounted: whether ``attempts`` includes this answer.
    /// - Throws: `Refusal` `conflict` after an answer or too late; `rate_limited` after too many.
    func requireAnswerable(at moment: Date, isCounted: Bool) throws(Refusal) {
        try require(.open, at: moment)
        guard isCounted ? attempts <= Self.maximumAttempts : attempts < Self.maximumAttempts else {
            throw Refusal.tooManyAnswers(
                retryAfter: max(1, Int(saturating: expiresAt.timeIntervalSince(moment))))
        }
    }

    /// Requires a state in which an answer or a code can still change it.
    ///
    /// - Throws: `Refusal` `conflict`.
    func require(_ wanted: State, at moment: Date) throws(Refusal) {
        let state = state(at: moment)
        guard state != wanted else { return }
        throw state == .expired ? Refusal.presentationExpired : Refusal.presentationAnswered
    }

    /// The nonce as requests in JSON have it.
    var nonceText: String { Base64URL.encode(nonce) }
}

package extension PresentationDefect {
    /// Whether the answer says nothing about a credential, because it cannot be parsed or decrypted, or presents none.
    /// Anybody who saw the request can send one, since it contains the public key, so the request stays open.
    var leavesOpen: Bool {
        switch reason {
        case .malformed, .undecryptable, .wrongKey: true
        case .incomplete: isEmpty
        case .notAsked, .surplus, .mixed, .unknownIssuer, .issuerCertificate, .issuerSignature, .digest, .notYetValid,
            .expired, .revoked, .suspended, .statusUnknown, .unbound, .deviceSignature, .replayed, .documentExpired:
            false
        }
    }
}

package extension AgeProof {
    /// `nil` for an identity, which proves an age by a birthday.
    init?(_ wanted: Presentation.Wanted) {
        switch wanted {
        case .identity: return nil
        case .over18: self = .over18
        case .over21: self = .over21
        }
    }
}
