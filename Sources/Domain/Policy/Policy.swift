import Foundation

/// Every value that an operator may set, one part for each file in `Policies/`. The defaults are the contract's.
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
    package var authorizations = AuthorizationPolicy()
    package var streams = MessageStreamPolicy()
    package var addresses = AddressPolicy()
    package var calls = CallPolicy()
    package var bans = BanPolicy()
    package var retention = RetentionPolicy()

    package init() {}
}

/// Nonces: `Policies/nonces.yaml`.
package struct NoncePolicy: Sendable, Equatable {
    package var lifetime: TimeInterval = 600
    /// What ``lifetime`` may be at most.
    package static let longestLifetime: TimeInterval = 86_400
    /// How long the row of a spent nonce is kept beyond its expiry at least: clocks differ by less.
    package static let margin: TimeInterval = 900
    /// How long before its expiry a nonce can be spent: its row is kept for as long. One that lives longer is of a node
    /// whose clock was wrong.
    package static let longestRemainder = longestLifetime + margin
    /// How long a spent nonce is remembered beyond its expiry.
    package var keptAfterExpiry: TimeInterval = 900

    package init() {}
}

/// Limits for identity tokens: `Policies/identity-tokens.yaml`.
package struct IdentityTokenPolicy: Sendable, Equatable {
    /// The longest `exp − iat`; 24 hours is the ceiling.
    package var maximumLifetime: TimeInterval = 600
    /// The largest accepted difference of a provider's clock.
    package var clockSkew: TimeInterval = 60

    package init() {}
}

/// Lifetimes and limits of sessions: `Policies/sessions.yaml`.
package struct SessionPolicy: Sendable, Equatable {
    /// Live sessions for one user on one device. Beyond them the oldest ends.
    package var perUserAndDevice = 8
    /// A session without use for this long is challenged.
    package var idleLifetime: TimeInterval = 3600
    /// The longest life of a session since its creation or renewal.
    package var absoluteLifetime: TimeInterval = 86_400
    /// A challenged session that is not renewed in this time expires.
    package var renewalWindow: TimeInterval = 86_400
    /// The shortest time between two writes of a session's last use.
    package var lastUseInterval: TimeInterval = 300
    /// How a session is attached to another connection.
    package var attach = AttachmentRule.implicit
    /// Creations per minute for one certificate, counted on each node.
    package var createdPerMinute = 30

    package init() {}
}

extension SessionPolicy {
    /// Seconds between two uses of a session that a node notes: the store, and with it the other nodes, must learn of them
    /// well before the session seems idle.
    package var useInterval: TimeInterval { min(lastUseInterval, idleLifetime / 4) }
    /// Seconds until noted uses are written.
    package var useWriteInterval: TimeInterval { min(30, idleLifetime / 4) }
}

/// Lifetimes and limits of access tokens: `Policies/access-tokens.yaml`.
package struct AccessTokenPolicy: Sendable, Equatable {
    /// Of a session's token for a provider: as long a backend may trust it that does not apply security events.
    package var sessionLifetime: TimeInterval = 120
    /// Of a provider's token for its own calls.
    package var providerLifetime: TimeInterval = 3600
    /// Session tokens that one certificate exchanges in a minute on one node: each costs a signature.
    package var exchangedPerMinute = 60
    /// Assertions and fresh proofs of one provider in a minute: the store remembers each until it expires.
    package var provenPerMinute = 600

    package init() {}
}

/// Identity cards: `Policies/cards.yaml`.
package struct CardPolicy: Sendable, Equatable {
    package var submissions = 5
    package var submissionsPeriod: TimeInterval = 6 * 3600
    package var minimumAge = 18
    package var rawInputKept: TimeInterval = 86_400
    /// The soft checks (``CardCheck/Name``) whose failure sends a card to review. The defaults point at another
    /// person's or an invented card. The others fail for too many genuine cards: published number formats are out of
    /// date, most real barcodes depart from the standard, people move, and many go by another name than their card's.
    package var reviewedChecks = [
        "birthday", "postal_code", "other_name", "contradiction", "specimen", "issuer_confirmation", "uniqueness",
    ]
    /// The keys by which issuers' signatures in barcodes are verified: the issuer's two letters, the key's DID URL, and
    /// the key. Empty while none is pinned.
    package var barcodeKeys: [String] = []
    /// The URL of the service that queries a card's issuer; empty if there is none.
    package var issuerCheckURL = ""
    package var issuerCheckSecretFile = "issuer-check.secret"
    package var issuerCheckTimeout: TimeInterval = 5
    /// The data that is deleted from archived rows, if an export is to purge.
    package var purge = [ArchivedDatum.postalAddress, .documentNumber]

    package init() {}
}

/// The delivery of events to providers: `Policies/webhooks.yaml`.
package struct WebhookPolicy: Sendable, Equatable {
    /// The longest time of one attempt.
    package var attemptTimeout: TimeInterval = 10
    /// Streams of one provider.
    package var streamsPerProvider = 4
    /// Events that wait in one stream. A stream that holds more is disabled.
    package var eventsHeld = 10_000
    /// Events in one answer to a poll.
    package var eventsPerPoll = 100
    /// How long a poll waits for an event.
    package var pollWait: TimeInterval = 20
    /// Polls of one provider that wait at the same time, on each node.
    package var waitingPolls = 8
    /// The shortest time between two requests for a verification event in one stream.
    package var verificationInterval: TimeInterval = 5
    /// How long a receiver may leave a stream alone before it is disabled; 0 for ever.
    package var inactivityTimeout: TimeInterval = 0

    /// ``inactivityTimeout`` in force: longer than two polls; `nil` for ever.
    package var streamInactivity: TimeInterval? {
        inactivityTimeout > 0 ? max(inactivityTimeout, 2 * pollWait) : nil
    }

    package init() {}
}

/// User-to-user authorizations: `Policies/authorizations.yaml`.
package struct AuthorizationPolicy: Sendable, Equatable {
    package var requestsPerDay = 20
    package var requestLifetime: TimeInterval = 14 * 86_400
    package var againAfterRejection: TimeInterval = 30 * 86_400
    /// How many others one user may block at a time.
    package var blocksPerUser = 1000
    package var requiredLevel = Assurance.barcode

    package init() {}
}

/// Bans, and how quickly nodes learn of a change: `Policies/bans.yaml`.
package struct BanPolicy: Sendable, Equatable {
    /// A node reads the change log at least this often.
    package var changePollInterval: TimeInterval = 0.1
    /// A node that could not read the counter for this long refuses to decide.
    package var maximumStaleness: TimeInterval = 1
    /// How long a user's ban covers the proven phone number.
    package var phoneBan: TimeInterval = 180 * 86_400
    /// A node whose clock differs from the store's by more seconds than this refuses to decide.
    package var maximumClockDifference: TimeInterval = 30

    package init() {}
}
