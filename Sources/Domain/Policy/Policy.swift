import Foundation

/// Every value that an operator may set, one part for each file in `Policies/`. The defaults are the contract's.
///
/// Rules are values: the code that applies them takes the part that it needs. Times are in seconds.
public struct Policy: Sendable, Equatable {
    public var certification = CertificationPolicy()
    public var nonces = NoncePolicy()
    public var identityTokens = IdentityTokenPolicy()
    public var sessions = SessionPolicy()
    public var requests = RequestPolicy()
    public var phones = PhonePolicy()
    public var delivery = DeliveryPolicy()
    public var webhooks = WebhookPolicy()
    public var cards = CardPolicy()
    public var authorizations = AuthorizationPolicy()
    public var bans = BanPolicy()
    public var retention = RetentionPolicy()

    /// The contract's defaults.
    public init() {}
}

/// How long nonces live: `Policies/nonces.yaml`.
public struct NoncePolicy: Sendable, Equatable {
    /// From issue to expiry.
    public var lifetime: TimeInterval = 600
    /// How long a spent one is remembered beyond its expiry.
    public var keptAfterExpiry: TimeInterval = 900

    public init() {}
}

/// What identity tokens must be like: `Policies/identity-tokens.yaml`.
public struct IdentityTokenPolicy: Sendable, Equatable {
    /// The longest `exp − iat`; 24 hours is the ceiling.
    public var maximumLifetime: TimeInterval = 600
    /// How far a provider's clock may be off.
    public var clockSkew: TimeInterval = 60

    public init() {}
}

/// How sessions live and end: `Policies/sessions.yaml`.
public struct SessionPolicy: Sendable, Equatable {
    /// Live sessions for one user on one device: the oldest ends beyond it.
    public var perUserAndDevice = 8
    /// Without use for this long a session is challenged.
    public var idleLifetime: TimeInterval = 3600
    /// From creation or renewal to the end.
    public var absoluteLifetime: TimeInterval = 86_400
    /// A challenged session that is not renewed in this time expires.
    public var renewalWindow: TimeInterval = 86_400
    /// The last use is written at most this often.
    public var lastUseInterval: TimeInterval = 300
    /// How a session comes to another connection.
    public var attach = AttachmentRule.implicit
    /// Creations per minute for one certificate, counted on each node.
    public var createdPerMinute = 30

    public init() {}
}

/// Identity cards: `Policies/cards.yaml`.
public struct CardPolicy: Sendable, Equatable {
    public var submissions = 5
    public var submissionsPeriod: TimeInterval = 6 * 3600
    public var minimumAge = 18
    public var rawInputKept: TimeInterval = 86_400
    /// The soft checks (``CardCheck/Name``) whose failure sends a card to review. By default those that point at another
    /// person's or an invented card. Published number formats are too old for that, most real barcodes depart from the
    /// standard, people move, and the names that they go by are not those on their cards.
    public var reviewedChecks = ["postal_code", "issuer_confirmation", "uniqueness"]
    /// The service that asks a card's issuer; empty where there is none.
    public var issuerCheckURL = ""
    public var issuerCheckSecretFile = "issuer-check.secret"
    public var issuerCheckTimeout: TimeInterval = 5
    /// What is dropped from the rows of an archive that was asked to purge.
    public var purge = [ArchivedDatum.postalAddress, .documentNumber]

    public init() {}
}

/// What providers are told of their users: `Policies/webhooks.yaml`.
public struct WebhookPolicy: Sendable, Equatable {
    /// The longest that one attempt takes.
    public var attemptTimeout: TimeInterval = 10

    public init() {}
}

/// User-to-user authorizations: `Policies/authorizations.yaml`.
public struct AuthorizationPolicy: Sendable, Equatable {
    public var requestsPerDay = 20
    public var requestLifetime: TimeInterval = 14 * 86_400
    public var againAfterRejection: TimeInterval = 30 * 86_400
    public var requiredLevel = Assurance.barcode

    public init() {}
}

/// Bans, and how quickly nodes learn of any change: `Policies/bans.yaml`.
public struct BanPolicy: Sendable, Equatable {
    /// A node reads the change counter at least this often.
    public var changePollInterval: TimeInterval = 0.1
    /// A node that could not read it for this long refuses to decide.
    public var maximumStaleness: TimeInterval = 1
    /// How long a user's ban holds the proven phone number.
    public var phoneBan: TimeInterval = 180 * 86_400
    /// A node whose clock differs more from the store's refuses to decide, in seconds.
    public var maximumClockDifference: TimeInterval = 30

    public init() {}
}
