import Foundation
import PhoneNumbers

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

/// Who may get a certificate, and what it says: `Policies/certification.yaml`.
public struct CertificationPolicy: Sendable, Equatable {
    /// What stands before the authority.
    public enum Gate: String, Sendable, CaseIterable {
        /// Anyone, limited by address.
        case open
        /// Holders of an enrolment token that a provider signed.
        case provider
        /// Holders of a solved captcha.
        case captcha
    }

    /// What stands before the authority.
    public var gate = Gate.open
    /// Certificates per hour for one address (/32 of IPv4, /64 of IPv6).
    public var perHourPerAddress = 30
    /// Certificates per hour for one IPv6 network of /56.
    public var perHourPer56 = 60
    /// Certificates per hour for one IPv6 network of /48.
    public var perHourPer48 = 240
    /// Certificates per hour for all together, where the gate is open.
    public var openPerHour = 3000
    /// Renewals in 24 hours for one device.
    public var renewalsPerDay = 3
    /// The life of a certificate; never beyond the authority's own.
    public var validity: TimeInterval = 365 * 86_400
    /// The certificate policy's object identifier (RFC 5280 §4.2.1.4); empty where certificates name none.
    public var policyOID = ""
    /// The siteverify endpoint that judges captchas.
    public var captchaURL = ""
    /// The file that holds the siteverify secret.
    public var captchaSecretFile = ""

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

/// What one connection and one request may cost: `Policies/requests.yaml`.
public struct RequestPolicy: Sendable, Equatable {
    /// The largest body, bytes.
    public var maximumBody = 65_536
    /// The largest sum of header fields, bytes.
    public var maximumHeaders = 16_384
    /// Header fields in one request.
    public var maximumHeaderCount = 64
    /// From the TCP connection to the end of the TLS handshake.
    public var handshakeTimeout: TimeInterval = 10
    /// From the first byte of a request to its last.
    public var requestTimeout: TimeInterval = 20
    /// A connection without requests for this long is closed.
    public var idleTimeout: TimeInterval = 120
    /// Open connections on one listener; beyond them the one that is idle for longest gives way.
    public var maximumConnections = 16_384
    /// Of these, from one address (/32 of IPv4, /64 of IPv6).
    public var connectionsPerAddress = 1024
    /// Of these, with one client certificate.
    public var connectionsPerCertificate = 16
    /// Requests at a time on one HTTP/2 connection to the public listener.
    public var publicStreams = 50
    /// The same on the client listener.
    public var clientStreams = 100
    /// From the first byte of an answer to its last, and a second more for each 4 KiB that were taken.
    public var answerTimeout: TimeInterval = 20
    /// Bytes of answers that a connection has not taken, beyond which none of its requests is worked on.
    public var maximumUnsent = 262_144
    /// The oldest TLS on the client listener.
    public var clientTLS = TLSFloor.tls12
    /// How long a stop waits for what is in flight.
    public var shutdownTimeout: TimeInterval = 20
    /// Networks whose connections to the public and the client listener begin with a PROXY protocol v2 header.
    public var proxiedNetworks: [AddressNetwork] = []

    public init() {}
}

/// The oldest version of TLS that a listener speaks.
public enum TLSFloor: String, Sendable, CaseIterable {
    case tls12 = "tls1.2"
    case tls13 = "tls1.3"
}

/// Texted codes and the numbers they go to: `Policies/phones.yaml`.
public struct PhonePolicy: Sendable, Equatable {
    /// Digits of a code.
    public var digits = 6
    /// From the start to expiry; a resend does not extend it.
    public var lifetime: TimeInterval = 300
    /// Codes that may be tried for one verification.
    public var checksPerVerification = 5
    /// How long after the sending before it the same code may be sent again, one entry a resend.
    public var resendAfter: [TimeInterval] = [30, 60, 120]
    /// Texts in an hour to one number.
    public var sendsPerHourPerNumber = 5
    /// Texts in 24 hours to one number.
    public var sendsPerDayPerNumber = 10
    /// How many of those one user may cause who is not the number's verified owner.
    public var sendsPerDayPerNumberAndUser = 3
    /// Wrong codes in a row that freeze a user and number.
    public var failuresBeforeFreeze = 20
    /// How long they stay frozen.
    public var freeze: TimeInterval = 86_400
    /// Texts in an hour caused from one address (/32 of IPv4, /64 of IPv6).
    public var sendsPerHourPerAddress = 10
    /// Different numbers that one user may try in the period below.
    public var numbersPerUser = 5
    /// The period of ``numbersPerUser``.
    public var numbersPerUserPeriod: TimeInterval = 30 * 86_400
    /// Countries whose numbers get texts, ISO 3166-1 alpha-2.
    public var countries = ["US", "CA"]
    /// Kinds of number that get none, in the words of ``PhoneNumberType``.
    public var refusedTypes = ["premium_rate", "toll_free", "voip"]
    /// Texts in an hour to one prefix: the 10,000 numbers that share all but the last four digits.
    public var sendsPerHourPerPrefix = 100
    /// Texts in an hour to one prefix that may stay without a right code; each right code allows one more.
    public var unverifiedPerHourPerPrefix = 10
    /// The same in 24 hours.
    public var unverifiedPerDayPerPrefix = 20
    /// The age from which on an account is settled; one that proved a number is settled at once.
    public var settledAfter: TimeInterval = 7 * 86_400
    /// Texts in an hour that one group of askers (provider, network and age of the account) may leave without a right code.
    public var unverifiedPerHourPerGroup = 10
    /// The same in 24 hours.
    public var unverifiedPerDayPerGroup = 30
    /// From so many texts in an hour on, a prefix, a provider's accounts or a country must show right codes.
    public var breakerSends = 50
    /// Of how many in a hundred texts, at least.
    public var breakerVerifiedPercent = 15
    /// How long texts are thinned out where fewer are shown.
    public var breakerPause: TimeInterval = 3600
    /// Texts in an hour that go out where they are thinned out; each right code allows one more.
    public var thinnedPerHour = 10
    /// What one text costs, in thousandths of the currency.
    public var textPrice = 8
    /// What the texts of one day (UTC) may cost, in thousandths of the currency.
    public var spendPerDay = 100_000
    /// What of it the texts of one provider's users may cost.
    public var spendPerDayPerProvider = 80_000
    /// How much in a hundred of both is kept from new accounts.
    public var spendReservedPercent = 20
    /// The ARNs of the Amazon SNS platform applications whose endpoints users may register.
    public var pushApplications: [String] = []
    /// Whether a user must show to be present before a text is sent.
    public var presenceRequired = false

    public init() {}
}

/// How texts and pushes get out: `Policies/delivery.yaml`. It names secrets and never holds them.
public struct DeliveryPolicy: Sendable, Equatable {
    /// The ways out.
    public enum Carrier: String, Sendable, CaseIterable {
        /// Amazon SNS.
        case sns
        /// Twilio's Messages.
        case twilio
        /// A receiver of the operator's own, called as Standard Webhooks says.
        case webhook
        /// A file, for development.
        case file
    }

    /// In the order in which they are tried.
    public var senders = [Carrier.file]
    /// The longest that one attempt with one sender takes.
    public var attemptTimeout: TimeInterval = 10
    /// How much of it may go into the connection.
    public var connectTimeout: TimeInterval = 3
    /// The sentence with the code, `{code}` once.
    public var text = "Your code is {code}. Do not share it."
    /// The host that the line for autofill names; empty for the realm.
    public var textHost = ""
    /// The 11 characters by which Android's SMS Retriever finds the app; empty for none.
    public var androidRetrieverHash = ""
    /// The region of Amazon SNS.
    public var snsRegion = "us-east-1"
    /// Where SNS is, if not at the region's usual endpoint; empty for that.
    public var snsEndpoint = ""
    /// What people see as sender, where the country allows it; empty for none.
    public var snsSenderID = ""
    /// The number to send from; empty where SNS is to choose.
    public var snsOriginationNumber = ""
    /// The file of `Keys/` with Amazon's credentials; empty for the environment.
    public var snsCredentialsFile = ""
    /// Twilio's account SID.
    public var twilioAccount = ""
    /// The SID of an API key; empty where the secret is the account's auth token.
    public var twilioAPIKey = ""
    /// The number or sender id to send from; empty with a messaging service.
    public var twilioFrom = ""
    /// The SID of a messaging service; empty with a number.
    public var twilioMessagingService = ""
    /// The file of `Keys/` with the auth token or the API key's secret.
    public var twilioSecretFile = "twilio.secret"
    /// Where Twilio is.
    public var twilioEndpoint = "https://api.twilio.com"
    /// The receiver of the webhook.
    public var webhookURL = ""
    /// The file of `Keys/` with the secret that the webhook is signed with.
    public var webhookSecretFile = "webhook.secret"

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
