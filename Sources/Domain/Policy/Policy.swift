import Foundation

/// Every value that an operator may set, one part for each file in `Policies/`. The defaults are the contract's.
///
/// Rules are values: the code that applies them takes the part that it needs. Times are in seconds.
package struct Policy: Sendable, Equatable {
    package var certification = CertificationPolicy()
    package var nonces = NoncePolicy()
    package var identityTokens = IdentityTokenPolicy()
    package var sessions = SessionPolicy()
    package var requests = RequestPolicy()
    package var phones = PhonePolicy()
    package var delivery = DeliveryPolicy()
    package var webhooks = WebhookPolicy()
    package var cards = CardPolicy()
    package var authorizations = AuthorizationPolicy()
    package var bans = BanPolicy()
    package var retention = RetentionPolicy()

    package init() {}
}

/// How long nonces live: `Policies/nonces.yaml`.
package struct NoncePolicy: Sendable, Equatable {
    package var lifetime: TimeInterval = 600
    /// How long a spent one is remembered beyond its expiry.
    package var keptAfterExpiry: TimeInterval = 900

    package init() {}
}

/// What identity tokens must be like: `Policies/identity-tokens.yaml`.
package struct IdentityTokenPolicy: Sendable, Equatable {
    /// The longest `exp − iat`; 24 hours is the ceiling.
    package var maximumLifetime: TimeInterval = 600
    /// How far a provider's clock may be off.
    package var clockSkew: TimeInterval = 60

    package init() {}
}

/// How sessions live and end: `Policies/sessions.yaml`.
package struct SessionPolicy: Sendable, Equatable {
    /// Live sessions for one user on one device: the oldest ends beyond it.
    package var perUserAndDevice = 8
    /// Without use for this long a session is challenged.
    package var idleLifetime: TimeInterval = 3600
    /// From creation or renewal to the end.
    package var absoluteLifetime: TimeInterval = 86_400
    /// A challenged session that is not renewed in this time expires.
    package var renewalWindow: TimeInterval = 86_400
    /// The last use is written at most this often.
    package var lastUseInterval: TimeInterval = 300
    /// How a session comes to another connection.
    package var attach = AttachmentRule.implicit
    /// Creations per minute for one certificate, counted on each node.
    package var createdPerMinute = 30

    package init() {}
}

/// Identity cards: `Policies/cards.yaml`.
package struct CardPolicy: Sendable, Equatable {
    package var submissions = 5
    package var submissionsPeriod: TimeInterval = 6 * 3600
    package var minimumAge = 18
    package var rawInputKept: TimeInterval = 86_400
    /// The soft checks (``CardCheck/Name``) whose failure sends a card to review. By default those that point at another
    /// person's or an invented card. Published number formats are too old for that, most real barcodes depart from the
    /// standard, people move, and the names that they go by are not those on their cards.
    package var reviewedChecks = ["postal_code", "issuer_confirmation", "uniqueness"]
    /// The service that asks a card's issuer; empty if there is none.
    package var issuerCheckURL = ""
    package var issuerCheckSecretFile = "issuer-check.secret"
    package var issuerCheckTimeout: TimeInterval = 5
    /// What is dropped from the rows of an archive that was asked to purge.
    package var purge = [ArchivedDatum.postalAddress, .documentNumber]

    package init() {}
}

/// What providers are told of their users: `Policies/webhooks.yaml`.
package struct WebhookPolicy: Sendable, Equatable {
    /// The longest that one attempt takes.
    package var attemptTimeout: TimeInterval = 10

    package init() {}
}

/// User-to-user authorizations: `Policies/authorizations.yaml`.
package struct AuthorizationPolicy: Sendable, Equatable {
    package var requestsPerDay = 20
    package var requestLifetime: TimeInterval = 14 * 86_400
    package var againAfterRejection: TimeInterval = 30 * 86_400
    package var requiredLevel = Assurance.barcode

    package init() {}
}

/// Bans, and how quickly nodes learn of any change: `Policies/bans.yaml`.
package struct BanPolicy: Sendable, Equatable {
    /// A node reads the change counter at least this often.
    package var changePollInterval: TimeInterval = 0.1
    /// A node that could not read it for this long refuses to decide.
    package var maximumStaleness: TimeInterval = 1
    /// How long a user's ban holds the proven phone number.
    package var phoneBan: TimeInterval = 180 * 86_400
    /// A node whose clock differs more from the store's refuses to decide, in seconds.
    package var maximumClockDifference: TimeInterval = 30

    package init() {}
}
