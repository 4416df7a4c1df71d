import Encoding
import Foundation

/// A request of a user's device to the user's wallet, and what came of it.
package struct Presentation: Sendable, Equatable {
    package let id: PresentationID
    package let userID: UserID
    package let deviceID: DeviceID
    package let sessionID: SessionID
    package let wanted: Wanted
    package let state: State
    /// 32 random bytes, which the wallet's answer is bound to.
    package let nonce: [UInt8]
    /// The web page or native app that calls the wallet.
    package let origin: String
    /// Why the answer was refused; `nil` in every other state.
    package let reason: String?
    /// How many answers were tried, with the present one.
    package let attempts: Int
    package let createdAt: Date
    package let expiresAt: Date

    package init(
        id: PresentationID, userID: UserID, deviceID: DeviceID, sessionID: SessionID, wanted: Wanted, state: State,
        nonce: [UInt8], origin: String, reason: String?, attempts: Int, createdAt: Date, expiresAt: Date
    ) {
        self.id = id
        self.userID = userID
        self.deviceID = deviceID
        self.sessionID = sessionID
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

    /// The stored state, which an answer changes once. The raw values are the contract's.
    enum State: String, Sendable, CaseIterable {
        case open, accepted, refused
    }

    /// The state as the app sees it.
    enum Progress: String, Sendable, CaseIterable {
        case open, accepted, refused, expired
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

    func progress(at moment: Date) -> Progress {
        switch state {
        case .accepted: .accepted
        case .refused: .refused
        case .open: expiresAt > moment ? .open : .expired
        }
    }

    /// Requires that an answer may be tried.
    ///
    /// - Throws: `Refusal` `conflict` after an answer or too late; `rate_limited` after too many.
    func requireAnswerable(at moment: Date) throws(Refusal) {
        switch progress(at: moment) {
        case .open: break
        case .accepted, .refused: throw Refusal.presentationAnswered
        case .expired: throw Refusal.presentationExpired
        }
        guard attempts <= Self.maximumAttempts else {
            throw Refusal.tooMany(
                "answers to this request", retryAfter: max(1, Int(saturating: expiresAt.timeIntervalSince(moment))))
        }
    }

    /// The nonce as requests in JSON have it.
    var nonceText: String { Base64URL.encode(nonce) }
}

package extension PresentationDefect {
    /// Whether the answer says nothing about the wallet, because it cannot be parsed or decrypted. The request stays open.
    var isUnreadable: Bool {
        switch reason {
        case .malformed, .undecryptable, .wrongKey: true
        default: false
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
