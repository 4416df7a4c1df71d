import Foundation
import PhoneNumbers

/// The trust in a requester, which decides who gets texts first while they are limited.
enum SendStanding: Sendable {
    /// The requester's group has texts without a right code.
    case failing
    /// The group has such texts, but this request has evidence of a person.
    case vouched
    /// The group has no such texts in ``SendCounts/groupPeriod``, or at least three right codes for each. So a few
    /// failures do not end the trust in a network of thousands.
    case trusted

    init(_ group: Conversion, _ evidence: SendGuard.Evidence?) {
        let isTrusted = group.unverified <= 0 || group.verified / 3 >= group.unverified
        self = isTrusted ? .trusted : evidence == nil ? .failing : .vouched
    }
}

/// Decides whether texts are sent. Fraudsters earn money with each text to a number of theirs; the limits protect
/// users' budgets and the operator's money. The decision is pure: it depends on the arguments alone.
///
/// No requester may use up what others share. Groups of requesters (provider, network, age of the account) are
/// evaluated before a prefix, a provider or a country. A network that has texts without a right code at a prefix gets
/// half of the prefix's budget. If too few codes are submitted, the scope is limited. Then trusted groups and requests
/// with evidence of a person take precedence: they have a higher hourly limit and the last part of the day's budget. A
/// user who proved a number before always gets a text to it, within that number's own limits.
package struct SendGuard: Sendable {
    private let policy: PhonePolicy
    private let limitsRates: Bool

    /// - Parameter limitsRates: whether rate limits apply. Limits by country, type and freeze always apply.
    package init(policy: PhonePolicy, limitsRates: Bool) {
        self.policy = policy
        self.limitsRates = limitsRates
    }
}

package extension SendGuard {
    /// Why a text is withheld. The requester is not informed, because the reason would reveal something about the number.
    enum WithheldReason: String, Sendable, CaseIterable {
        case country
        case type
        case frozen
        case numberLimit = "number_limit"
        case prefixLimit = "prefix_limit"
        case groupLimit = "group_limit"
        case prefixThinned = "prefix_thinned"
        case providerThinned = "provider_thinned"
        case countryThinned = "country_thinned"
        case spendCeiling = "spend_ceiling"

        /// The reason if a limited scope does not send the text.
        init(_ scope: SendScope) {
            switch scope {
            case .prefix: self = .prefixThinned
            case .provider: self = .providerThinned
            case .country: self = .countryThinned
            }
        }
    }

    /// Whether a text is sent.
    enum Decision: Sendable, Equatable {
        /// The text is sent, and attributed to these scopes. It is attributed to its provider and country only while no
        /// other text to its prefix or of its group lacks a right code. So the limits of one group or prefix contain its
        /// failures. It is attributed to its country only while its provider has few failures there. `through` contains the
        /// limited scopes that admitted it.
        case send(attributedTo: Set<SendScope>, through: Set<SendScope>)
        /// The text is withheld. `thins` is the scope that the breaker limits from now on.
        case withhold(WithheldReason, thins: SendScope?)
    }

    /// Evidence that a person requests a text. Each item is valid for one request. Attested devices could be added.
    enum Evidence: String, Sendable, CaseIterable {
        /// A presence proof, whose nonce is now spent.
        case presence
        /// A captcha that the siteverify endpoint accepted.
        case captcha
    }

    /// A requested text, and the facts about it on which the decision depends.
    struct Attempt: Sendable {
        let number: PhoneNumber
        /// Whether the user proved the number before.
        let isOwner: Bool
        /// Whether the user's checks of this number are frozen after wrong codes.
        let isFrozen: Bool
        /// The account's age, new or settled.
        let age: SendTarget.AccountAge
        /// Evidence that a person makes the request; `nil` for none.
        let evidence: Evidence?

        package init(
            number: PhoneNumber, isOwner: Bool, isFrozen: Bool, age: SendTarget.AccountAge, evidence: Evidence? = nil
        ) {
            self.number = number
            self.isOwner = isOwner
            self.isFrozen = isFrozen
            self.age = age
            self.evidence = evidence
        }
    }

    /// The number without its last four digits. Numbers are rented in blocks that share such a prefix.
    static func prefix(of number: PhoneNumber) -> String {
        String(number.line.dropLast(4))
    }

    /// Refuses openly if the user requested too much. Both limits count the user's requests, whether or not texts were
    /// sent. So the refusal reveals nothing about other users or about the number.
    ///
    /// - Throws: ``Refusal`` `rate_limited`.
    func requireWithinUserLimits(_ attempt: Attempt, _ counts: SendCounts) throws(Refusal) {
        guard limitsRates else { return }
        guard counts.otherNumbersOfUser < policy.numbersPerUser else {
            throw Refusal.numbersExhausted(
                policy.numbersPerUser, retryAfter: Int(policy.numbersPerUserPeriod))
        }
        let mine = attempt.isOwner ? policy.sendsPerDayPerNumber : policy.sendsPerDayPerNumberAndUser
        guard counts.askedByUserToday < mine else {
            throw Refusal.textsExhausted(mine)
        }
    }

    /// Decides whether a text is sent. The caller must not reveal that it was withheld.
    func decide(_ attempt: Attempt, _ counts: SendCounts) -> Decision {
        if !policy.countries.contains(attempt.number.region) { return .withhold(.country, thins: nil) }
        if policy.refusedTypes.contains(attempt.number.type.rawValue) { return .withhold(.type, thins: nil) }
        if attempt.isFrozen { return .withhold(.frozen, thins: nil) }
        guard limitsRates else { return .send(attributedTo: [], through: []) }
        if counts.numberLastHour >= policy.sendsPerHourPerNumber
            || counts.numberLastDay >= policy.sendsPerDayPerNumber
        {
            return .withhold(.numberLimit, thins: nil)
        }
        if exceedsSpending(attempt, counts) { return .withhold(.spendCeiling, thins: nil) }
        guard counts.prefix.hour.sends < policy.sendsPerHourPerPrefix else {
            return .withhold(.prefixLimit, thins: nil)
        }
        if attempt.isOwner { return .send(attributedTo: [], through: []) }
        return decideForStranger(SendStanding(counts.groupInPeriod, attempt.evidence), counts)
    }

    /// Decides for a requester who has not proved the number.
    private func decideForStranger(_ standing: SendStanding, _ counts: SendCounts) -> Decision {
        for scope in SendScope.allCases
        where counts.thinned[scope] == nil && convertsTooFew(counts.conversion(of: scope)) {
            return .withhold(WithheldReason(scope), thins: scope)
        }
        for scope in SendScope.allCases {
            guard let through = counts.thinned[scope] else { continue }
            let hourly = standing == .failing ? policy.thinnedPerHour : policy.thinnedFirstPerHour
            guard through.unverified < hourly + through.verified else {
                return .withhold(WithheldReason(scope), thins: nil)
            }
        }
        guard counts.group.hour.unverified < policy.unverifiedPerHourPerGroup + counts.group.hour.verified,
            counts.group.day.unverified < policy.unverifiedPerDayPerGroup + counts.group.day.verified
        else { return .withhold(.groupLimit, thins: nil) }
        let holds = counts.prefixFromNetwork.day.unverified > 0
        let (hourly, daily) = (
            share(policy.unverifiedPerHourPerPrefix, holds: holds),
            share(policy.unverifiedPerDayPerPrefix, holds: holds)
        )
        guard counts.prefix.hour.unverified < hourly + counts.prefix.hour.verified,
            counts.prefix.day.unverified < daily + counts.prefix.day.verified
        else { return .withhold(.prefixLimit, thins: nil) }
        return .send(attributedTo: attribution(counts), through: Set(counts.thinned.keys))
    }

    private func attribution(_ counts: SendCounts) -> Set<SendScope> {
        guard counts.thinned.isEmpty, counts.prefix.hour.unverified <= 0, counts.group.hour.unverified <= 0 else {
            return []
        }
        return counts.provider.unverified < (policy.breakerSends + 1) / 2 ? [.provider, .country] : [.provider]
    }

    /// Whether the text exceeds the day's budget. New accounts cannot spend the last part of it, and those of untrusted
    /// groups still less. Each provider's users can spend only a part of it. Owners of proved numbers are exempt.
    private func exceedsSpending(_ attempt: Attempt, _ counts: SendCounts) -> Bool {
        func exceeds(_ spent: Int, _ ceiling: Int, keeping percent: Int) -> Bool {
            (spent + policy.textPrice) * 100 > ceiling * (100 - percent)
        }
        if attempt.isOwner { return exceeds(counts.spentToday, policy.spendPerDay, keeping: 0) }
        let kept =
            switch (attempt.age, SendStanding(counts.groupInPeriod, attempt.evidence)) {
            case (.settled, _): 0
            case (.new, .trusted): policy.spendReservedPercent
            case (.new, .vouched): policy.spendReservedPercent + policy.spendTrustedPercent / 2
            case (.new, .failing): policy.spendReservedPercent + policy.spendTrustedPercent
            }
        return exceeds(counts.spentToday, policy.spendPerDay, keeping: kept)
            || exceeds(counts.spentTodayByProvider, policy.spendPerDayPerProvider, keeping: kept)
    }

    private func share(_ limit: Int, holds: Bool) -> Int {
        holds ? (limit + 1) / 2 : limit
    }

    private func convertsTooFew(_ conversion: Conversion) -> Bool {
        conversion.sends >= policy.breakerSends
            && conversion.verified * 100 < conversion.sends * policy.breakerVerifiedPercent
    }
}
