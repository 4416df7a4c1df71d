import Foundation

/// All settings that an operator can change, one property for each file in `Policies/`. The defaults are the
/// contract's.
///
/// Times are in seconds.
package struct Policy: Sendable, Equatable {
    package var certification = CertificationPolicy()
    package var nonces = NoncePolicy()
    package var identityTokens = IdentityTokenPolicy()
    package var sessions = SessionPolicy()
    package var accessTokens = AccessTokenPolicy()
    package var requests = RequestPolicy()
    package var phones = PhonePolicy()
    package var delivery = DeliveryPolicy()
    package var webhooks = WebhookPolicy()
    package var cards = CardPolicy()
    package var wallet = WalletPolicy()
    package var authorizations = AuthorizationPolicy()
    package var streams = MessageStreamPolicy()
    package var addresses = AddressPolicy()
    package var calls = CallPolicy()
    package var bans = BanPolicy()
    package var retention = RetentionPolicy()

    package init() {}
}

/// The lifetimes of nonces and of their rows: `Policies/nonces.yaml`.
package struct NoncePolicy: Sendable, Equatable {
    package var lifetime: TimeInterval = 600
    /// How long the row of a spent nonce is kept after the nonce expires.
    package var keptAfterExpiry: TimeInterval = 900

    init() {}
}

package extension NoncePolicy {
    /// The largest value that ``lifetime`` can have.
    static let longestLifetime: TimeInterval = 86_400
    /// The shortest time that the row of a spent nonce is kept after the nonce expires. Clocks must differ by less.
    static let margin: TimeInterval = 900
    /// The longest time before its expiry at which a nonce can be spent, because its row is kept for that long. A nonce
    /// that expires later was issued by a wrong clock.
    static let longestRemainder = longestLifetime + margin
}

/// Limits for identity tokens: `Policies/identity-tokens.yaml`.
package struct IdentityTokenPolicy: Sendable, Equatable {
    /// The largest permitted `exp − iat`; at most 24 hours.
    package var maximumLifetime: TimeInterval = 600
    /// The largest accepted difference of a provider's clock.
    package var clockSkew: TimeInterval = 60

    init() {}
}

/// Lifetimes and limits of sessions: `Policies/sessions.yaml`.
package struct SessionPolicy: Sendable, Equatable {
    /// Sessions of one user on one device. If there are more, the oldest one ends.
    package var perUserAndDevice = 8
    /// A session that was not used for this long is challenged.
    package var idleLifetime: TimeInterval = 3600
    /// The longest time that a session lasts after its creation or renewal.
    package var absoluteLifetime: TimeInterval = 86_400
    /// A challenged session that is not renewed in this time expires.
    package var renewalWindow: TimeInterval = 86_400
    /// The shortest time between two writes of a session's last use.
    package var lastUseInterval: TimeInterval = 300
    /// How a session is attached to another connection.
    package var attach = AttachmentRule.implicit
    /// Creations per minute for one certificate, counted on each node.
    package var createdPerMinute = 30
    /// Attempts to sign in per hour that each node records one by one, for a provider's users in one network. Further
    /// ones are only counted.
    package var recordedPerHour = 1000

    package init() {}
}

package extension SessionPolicy {
    /// The shortest time between two recorded uses of a session, in seconds. The store and the other nodes must learn
    /// of a use well before the session is considered idle.
    var useInterval: TimeInterval { min(lastUseInterval, idleLifetime / 4) }
    /// How often recorded uses are written, in seconds.
    var useWriteInterval: TimeInterval { min(30, idleLifetime / 4) }
}

/// Lifetimes and limits of access tokens: `Policies/access-tokens.yaml`.
package struct AccessTokenPolicy: Sendable, Equatable {
    /// The lifetime of a session's token for a provider. A backend that does not apply security events may accept a
    /// revoked session for this long.
    package var sessionLifetime: TimeInterval = 120
    /// The lifetime of a provider's token for its own calls.
    package var providerLifetime: TimeInterval = 3600
    /// Session tokens that one certificate may exchange in a minute on one node. Each requires a signature.
    package var exchangedPerMinute = 60
    /// Assertions and fresh proofs that one provider may use in a minute. The store keeps each until it expires.
    package var provenPerMinute = 600

    init() {}
}

/// Requirements for identity cards: `Policies/cards.yaml`.
package struct CardPolicy: Sendable, Equatable {
    package var submissions = 5
    package var submissionsPeriod: TimeInterval = 6 * 3600
    package var minimumAge = 18
    package var rawInputKept: TimeInterval = 86_400
    /// The soft checks (``CardCheck/Name``) whose failure sends a card to review. The defaults are signs of another
    /// person's card or an invented one. The other checks fail for too many genuine cards: published number formats are
    /// out of date, most real barcodes deviate from the standard, and people move or use another name than the card's.
    package var reviewedChecks = [
        "birthday", "postal_code", "other_name", "contradiction", "specimen", "issuer_confirmation", "uniqueness",
    ]
    /// The keys that verify issuers' signatures in barcodes: the issuer's two letters, the key's DID URL, and the key.
    /// Empty if no key is pinned.
    package var barcodeKeys: [String] = []
    /// The URL of the service that queries a card's issuer; empty if there is none.
    package var issuerCheckURL = ""
    package var issuerCheckSecretFile = "issuer-check.secret"
    package var issuerCheckTimeout: TimeInterval = 5
    /// The data that is deleted from archived rows, if an export purges data.
    package var purge = [ArchivedDatum.postalAddress, .documentNumber]

    package init() {}
}

/// The delivery of events to providers: `Policies/webhooks.yaml`.
package struct WebhookPolicy: Sendable, Equatable {
    /// The longest time of one attempt.
    package var attemptTimeout: TimeInterval = 10
    /// The largest number of streams of one provider.
    package var streamsPerProvider = 4
    /// The largest number of events that wait in one stream. A stream with more events is disabled.
    package var eventsHeld = 10_000
    /// The largest number of events in one response to a poll.
    package var eventsPerPoll = 100
    /// How long a poll waits for an event, in seconds.
    package var pollWait: TimeInterval = 20
    /// Polls of one provider that may wait at the same time, on each node.
    package var waitingPolls = 8
    /// The shortest time between two requests for a verification event in one stream.
    package var verificationInterval: TimeInterval = 5
    /// How long a receiver may be inactive before its stream is disabled; 0 for an unlimited time.
    package var inactivityTimeout: TimeInterval = 0

    /// The effective ``inactivityTimeout``: longer than two polls; `nil` for an unlimited time.
    package var streamInactivity: TimeInterval? {
        inactivityTimeout > 0 ? max(inactivityTimeout, 2 * pollWait) : nil
    }

    init() {}
}

/// Limits of user-to-user authorizations: `Policies/authorizations.yaml`.
package struct AuthorizationPolicy: Sendable, Equatable {
    package var requestsPerDay = 20
    package var requestLifetime: TimeInterval = 14 * 86_400
    package var againAfterRejection: TimeInterval = 30 * 86_400
    /// How many users one user may block at the same time.
    package var blocksPerUser = 1000
    package var requiredLevel = Assurance.barcode

    init() {}
}

/// Bans, and how quickly nodes apply changes: `Policies/bans.yaml`.
package struct BanPolicy: Sendable, Equatable {
    /// A node reads the change log at least this often.
    package var changePollInterval: TimeInterval = 0.1
    /// A node that could not read the change counter for this long refuses to decide.
    package var maximumStaleness: TimeInterval = 1
    /// How long a user's ban covers the proven phone number.
    package var phoneBan: TimeInterval = 180 * 86_400
    /// A node whose clock differs from the store's by more seconds than this refuses to decide.
    package var maximumClockDifference: TimeInterval = 30
    /// A ban of more users than this, an erasure and the disabling of a provider need a second administrator; 0 for never.
    package var fourEyesOver = 0

    package init() {}
}
