import Cards
import Delivery
import Domain
import Encoding
import Foundation
import PhoneNumbers

/// One file of policies: its name and its values.
struct PolicyArea {
    /// The file's name without `.yaml`.
    let name: String
    let fields: [PolicyField]

    static var all: [PolicyArea] {
        [
            certification, nonces, identityTokens, sessions, accessTokens, requests, phones, delivery, webhooks,
            cards, wallet, authorizations, streams, addresses, calls, bans, retention,
        ]
    }

    private static let day: TimeInterval = 86_400

    private static var certification: PolicyArea {
        PolicyArea(
            name: "certification",
            fields: [
                .choice("gate", \.certification.gate),
                .whole("per_hour_per_address", \.certification.perHourPerSender.perAddress, 1...1_000_000),
                .whole("per_hour_per_56", \.certification.perHourPerSender.per56, 1...1_000_000),
                .whole("per_hour_per_48", \.certification.perHourPerSender.per48, 1...1_000_000),
                .whole("open_per_hour", \.certification.openPerHour, 1...100_000_000),
                .whole("renewals_per_day", \.certification.renewalsPerDay, 1...100),
                .time("validity", \.certification.validity, 10...(20 * 365 * day)),
                .text(
                    "policy_oid", \.certification.policyOID,
                    expected: "an object identifier in dotted form with arcs below 2147483648, or \"\"",
                    where: { $0.isEmpty || isObjectIdentifier($0) }),
                .text(
                    "captcha_url", \.certification.captchaURL,
                    expected: "an https URL, an http URL on loopback, or \"\"",
                    where: { $0.isEmpty || isServiceURL($0) }),
                .text(
                    "captcha_secret_file", \.certification.captchaSecretFile, expected: "the path of a file or \"\"",
                    where: { $0.utf8.count <= 4096 && !$0.utf8.contains(0) }),
                .choices("attestation_kinds", \.certification.attestation.kinds),
                .choice("attestation_fallback", \.certification.attestation.fallback),
                .choices("android_levels", \.certification.attestation.androidLevels),
                .whole("android_oldest_patch", \.certification.attestation.androidOldestPatch, 0...999_912),
                .time("attestation_status_age", \.certification.attestation.statusAge, 7200...(365 * day)),
                .choice("attestation_status_unknown", \.certification.attestation.statusUnknown),
                .choice("revoked_attestation", \.certification.attestation.revoked),
            ])
    }

    private static var nonces: PolicyArea {
        PolicyArea(
            name: "nonces",
            fields: [
                .time("lifetime", \.nonces.lifetime, 10...NoncePolicy.longestLifetime),
                .time("kept_after_expiry", \.nonces.keptAfterExpiry, 60...(7 * day)),
            ])
    }

    private static var identityTokens: PolicyArea {
        PolicyArea(
            name: "identity-tokens",
            fields: [
                .time("maximum_lifetime", \.identityTokens.maximumLifetime, 10...day),
                .time("clock_skew", \.identityTokens.clockSkew, 0...600),
            ])
    }

    private static var sessions: PolicyArea {
        PolicyArea(
            name: "sessions",
            fields: [
                .whole("per_user_and_device", \.sessions.perUserAndDevice, 1...1000),
                .time("idle_lifetime", \.sessions.idleLifetime, 1...(365 * day)),
                .time("absolute_lifetime", \.sessions.absoluteLifetime, 1...(365 * day)),
                .time("renewal_window", \.sessions.renewalWindow, 1...(365 * day)),
                .time("last_use_interval", \.sessions.lastUseInterval, 1...day),
                .choice("attach", \.sessions.attach),
                .whole("created_per_minute", \.sessions.createdPerMinute, 1...1_000_000),
                .whole("recorded_per_hour", \.sessions.recordedPerHour, 0...1_000_000),
            ])
    }

    private static var accessTokens: PolicyArea {
        PolicyArea(
            name: "access-tokens",
            fields: [
                .time("session_lifetime", \.accessTokens.sessionLifetime, 60...300),
                .time("provider_lifetime", \.accessTokens.providerLifetime, 60...3600),
                .whole("exchanged_per_minute", \.accessTokens.exchangedPerMinute, 1...1_000_000),
                .whole("proven_per_minute", \.accessTokens.provenPerMinute, 1...1_000_000),
            ])
    }

    private static var phones: PolicyArea {
        PolicyArea(
            name: "phones",
            fields: [
                .whole("digits", \.phones.digits, 4...10),
                .time("lifetime", \.phones.lifetime, 30...3600),
                .whole("checks_per_verification", \.phones.checksPerVerification, 1...10),
                .times("resend_after", \.phones.resendAfter, 1...3600, upTo: 10),
                .whole("sends_per_hour_per_number", \.phones.sendsPerHourPerNumber, 1...100),
                .whole("sends_per_day_per_number", \.phones.sendsPerDayPerNumber, 1...1000),
                .whole("sends_per_day_per_number_and_user", \.phones.sendsPerDayPerNumberAndUser, 1...1000),
                .whole("failures_before_freeze", \.phones.failuresBeforeFreeze, 1...100),
                .time("freeze", \.phones.freeze, 60...(365 * day)),
                .whole("sends_per_hour_per_address", \.phones.sendsPerHourPerSender.perAddress, 1...1_000_000),
                .whole("sends_per_hour_per_56", \.phones.sendsPerHourPerSender.per56, 1...1_000_000),
                .whole("sends_per_hour_per_48", \.phones.sendsPerHourPerSender.per48, 1...1_000_000),
                .whole("numbers_per_user", \.phones.numbersPerUser, 1...1000),
                .time("numbers_per_user_period", \.phones.numbersPerUserPeriod, 3600...(365 * day)),
                .texts(
                    "countries", \.phones.countries,
                    expected: "a list of ISO 3166-1 alpha-2 codes, XK, AC and TA, each once,",
                    where: PhoneNumber.hasPlan),
                .texts(
                    "refused_types", \.phones.refusedTypes,
                    expected: "a list from \(numberTypes.joined(separator: ", ")), each once,",
                    where: numberTypes.contains),
                .whole("sends_per_hour_per_prefix", \.phones.sendsPerHourPerPrefix, 1...1_000_000),
                .whole("unverified_per_hour_per_prefix", \.phones.unverifiedPerHourPerPrefix, 1...1_000_000),
                .whole("unverified_per_day_per_prefix", \.phones.unverifiedPerDayPerPrefix, 1...1_000_000),
                .time("settled_after", \.phones.settledAfter, 0...(365 * day)),
                .whole("unverified_per_hour_per_group", \.phones.unverifiedPerHourPerGroup, 1...1_000_000),
                .whole("unverified_per_day_per_group", \.phones.unverifiedPerDayPerGroup, 1...1_000_000),
                .whole("breaker_sends", \.phones.breakerSends, 1...1_000_000),
                .whole("breaker_verified_percent", \.phones.breakerVerifiedPercent, 0...100),
                .time("breaker_pause", \.phones.breakerPause, 60...(7 * day)),
                .whole("thinned_per_hour", \.phones.thinnedPerHour, 0...1_000_000),
                .whole("thinned_first_per_hour", \.phones.thinnedFirstPerHour, 0...1_000_000),
                .whole("text_price", \.phones.textPrice, 0...1_000_000),
                .whole("spend_per_day", \.phones.spendPerDay, 0...1_000_000_000),
                .whole("spend_per_day_per_provider", \.phones.spendPerDayPerProvider, 0...1_000_000_000),
                .whole("spend_reserved_percent", \.phones.spendReservedPercent, 0...100),
                .whole("spend_trusted_percent", \.phones.spendTrustedPercent, 0...100),
                .texts(
                    "push_applications", \.phones.pushApplications,
                    expected: "a list of ARNs of Amazon SNS platform applications, each once,",
                    where: PushEndpoint.isApplication),
                .whole("push_endpoints_per_user", \.phones.pushEndpointsPerUser, 1...20),
                .flag("presence_required", \.phones.presenceRequired),
                .flag("attested_only", \.phones.attestedOnly),
            ])
    }

    private static var delivery: PolicyArea {
        PolicyArea(
            name: "delivery",
            fields: [
                .senders,
                .time("attempt_timeout", \.delivery.attemptTimeout, 0.1...60),
                .time("connect_timeout", \.delivery.connectTimeout, 0.1...30),
                .text(
                    "text", \.delivery.text, expected: "one line with {code} once",
                    where: { $0.ranges(of: "{code}").count == 1 && PlainText.isPlain($0, for: .prose) }),
                .texts(
                    "texts", \.delivery.texts,
                    expected: "a list of different \"<language> <one line with {code} once>\"",
                    where: { TextLanguage.isSentence($0) && PlainText.isPlain($0, for: .prose) }),
                word("text_host", \.delivery.textHost, "a host name or \"\"", upTo: 253),
                word(
                    "android_retriever_hash", \.delivery.androidRetrieverHash, "11 characters of base64 or \"\"",
                    upTo: 11),
            ])
    }

    /// A text of letters, digits and the few punctuation marks of names, numbers and SIDs; it may be empty.
    private static func word(
        _ key: String, _ path: WritableKeyPath<Policy, String>, _ expected: String, upTo count: Int
    ) -> PolicyField {
        .text(key, path, expected: expected) { text in
            text.utf8.count <= count
                && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-./".contains($0)) }
        }
    }

    /// The name of a file in the directory of the keys; it may be empty.
    static func fileName(_ key: String, _ path: WritableKeyPath<Policy, String>) -> PolicyField {
        .text(key, path, expected: "the name of a file in the directory of the keys") { text in
            text.utf8.count <= 255 && !text.hasPrefix(".")
                && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x2F }
        }
    }

    private static var webhooks: PolicyArea {
        PolicyArea(
            name: "webhooks",
            fields: [
                .time("attempt_timeout", \.webhooks.attemptTimeout, 0.1...60),
                .whole("streams_per_provider", \.webhooks.streamsPerProvider, 1...100),
                .whole("events_held", \.webhooks.eventsHeld, 100...100_000),
                // A receiver acknowledges them in one list of JSON.
                .whole("events_per_poll", \.webhooks.eventsPerPoll, 1...StrictJSON.maximumCount),
                .time("poll_wait", \.webhooks.pollWait, 1...300),
                .whole("waiting_polls", \.webhooks.waitingPolls, 1...1000),
                .time("verification_interval", \.webhooks.verificationInterval, 1...day),
                .time("inactivity_timeout", \.webhooks.inactivityTimeout, 0...(365 * day)),
            ])
    }

    private static var cards: PolicyArea {
        PolicyArea(
            name: "cards",
            fields: [
                .whole("submissions", \.cards.submissions, 1...1000),
                .time("submissions_period", \.cards.submissionsPeriod, 60...(30 * day)),
                .whole("minimum_age", \.cards.minimumAge, 0...120),
                .time("raw_input_kept", \.cards.rawInputKept, 0...day),
                .texts(
                    "reviewed_checks", \.cards.reviewedChecks,
                    expected: "a list from \(softChecks.joined(separator: ", ")), each once,",
                    where: softChecks.contains),
                .texts(
                    "barcode_keys", \.cards.barcodeKeys,
                    expected: "a list of entries such as \"CA did:web:issuer.example#key-1 zDnae…\", each once,",
                    where: { BarcodeKey($0) != nil }),
                .text(
                    "issuer_check_url", \.cards.issuerCheckURL, expected: serviceURL + " or \"\"",
                    where: { $0.isEmpty || isServiceURL($0) }),
                fileName("issuer_check_secret_file", \.cards.issuerCheckSecretFile),
                .time("issuer_check_timeout", \.cards.issuerCheckTimeout, 0.1...60),
                .choices("purge", \.cards.purge),
            ])
    }

    private static var authorizations: PolicyArea {
        PolicyArea(
            name: "authorizations",
            fields: [
                .whole("requests_per_day", \.authorizations.requestsPerDay, 1...100_000),
                .time("request_lifetime", \.authorizations.requestLifetime, 60...(365 * day)),
                .time("again_after_rejection", \.authorizations.againAfterRejection, 0...(3650 * day)),
                .whole("blocks_per_user", \.authorizations.blocksPerUser, 1...1_000_000),
                .choice("required_level", \.authorizations.requiredLevel, among: Assurance.allCases),
            ])
    }

    private static var bans: PolicyArea {
        PolicyArea(
            name: "bans",
            fields: [
                // The contract's bounds: a poll at least every 250 ms, a ban in force within 1 s.
                .time("change_poll_interval", \.bans.changePollInterval, 0.01...0.25),
                .time("maximum_staleness", \.bans.maximumStaleness, 0.1...1),
                .time("phone_ban", \.bans.phoneBan, 0...(3650 * day)),
                // If it exceeded the skew allowed for tokens, one node would accept what another refuses.
                .time("maximum_clock_difference", \.bans.maximumClockDifference, 1...60),
                .whole("four_eyes_over", \.bans.fourEyesOver, 0...1_000_000),
            ])
    }

    private static var retention: PolicyArea {
        PolicyArea(
            name: "retention",
            fields: [
                // A cached revocation list may be an hour old, and must not name a certificate that is already deleted.
                .time("ended_certificates", \.retention.endedCertificates, day...(3650 * day)),
                .time("unseen_certificates", \.retention.unseenCertificates, day...(3650 * day)),
                .time("ended_authorizations", \.retention.endedAuthorizations, day...(3650 * day)),
                .time("sign_ins", \.retention.signIns, day...(3650 * day)),
                .time("audit_entries", \.retention.auditEntries, 30 * day...(36_500 * day)),
            ])
    }

    /// Failures of these may send a card to review; failures of the others reject it.
    private static let softChecks = CardCheck.Name.reviewable.map(\.rawValue)

    /// The number types of the numbering plans' metadata.
    private static let numberTypes = [
        "fixed_line", "mobile", "fixed_line_or_mobile", "toll_free", "premium_rate", "shared_cost", "voip",
        "personal_number", "pager", "uan", "voicemail", "unknown",
    ]

    /// ITU-T X.660 §7.6: arcs in decimal without leading zeros. The first is 0 to 2, and the second at most 39 after 0
    /// and 1. Many parsers of certificates store an arc in 31 bits, and the first two in one such number (ITU-T X.690
    /// §8.19.4). They cannot parse a certificate with a larger one.
    private static func isObjectIdentifier(_ text: String) -> Bool {
        let arcs = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (2...32).contains(arcs.count), text.utf8.count <= 256,
            arcs.allSatisfy({ arc in
                arc.utf8.allSatisfy { (0x30...0x39).contains($0) } && !arc.isEmpty && (arc == "0" || arc.first != "0")
            })
        else { return false }
        let numbers = arcs.compactMap { $0.utf8.count <= 10 ? Int64($0) : nil }
        guard numbers.count == arcs.count, numbers.allSatisfy({ $0 <= Int64(Int32.max) }) else { return false }
        return numbers[0] == 2 ? numbers[1] <= Int64(Int32.max) - 80 : numbers[0] < 2 && numbers[1] < 40
    }

    private static let serviceURL = "an https URL, or an http URL on loopback,"

    /// Whether messages and their credentials may be sent to a URL: without TLS only on this machine.
    private static func isServiceURL(_ text: String) -> Bool { ServiceURL(text) != nil }
}
