import Foundation
import PhoneNumbers

/// A text that somebody asks for.
package struct SendAttempt: Sendable {
    package let number: PhoneNumber
    /// Whether the number is the user's by an earlier proof.
    package let isOwner: Bool
    /// Whether the user and number are frozen after wrong codes.
    package let isFrozen: Bool
    /// How long the user is known.
    package let age: AccountAge

    package init(number: PhoneNumber, isOwner: Bool, isFrozen: Bool, age: AccountAge) {
        self.number = number
        self.isOwner = isOwner
        self.isFrozen = isFrozen
        self.age = age
    }
}

/// Why no text goes out although its requester is told nothing of it: to say more would tell strangers about numbers.
package enum WithheldReason: String, Sendable, CaseIterable {
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

    /// What a text is withheld for that does not get through a scope.
    init(_ scope: SendScope) {
        switch scope {
        case .prefix: self = .prefixThinned
        case .provider: self = .providerThinned
        case .country: self = .countryThinned
        }
    }
}

/// Whether a text goes out.
package enum SendDecision: Sendable, Equatable {
    /// It does. A text bears on its provider and country only while no other to its prefix and none of its group stays
    /// without a right code: what one group or prefix does is contained by its own limits and thins out nothing wider.
    /// It bears on its country only while its provider's own share of failures there is small. What got through something
    /// that is thinned out is counted there.
    case send(bearsOn: Set<SendScope>, through: Set<SendScope>)
    /// It does not; `thins` if the breaker trips at this moment.
    case withhold(WithheldReason, thins: SendScope?)
}

/// Decides about texts: what a telephone fraudster earns with each text that reaches a number of his, a user's budget
/// and an operator's money. Pure: what was sent before comes in, what is decided goes out.
///
/// Nobody may use up what others share. Requesters are evaluated in groups (provider, network, age of the account) before a
/// prefix, a provider or a country is; of a prefix's budget a network that holds texts without a right code there has half;
/// and if too few codes come back, texts are thinned out: the first of each group, so many an hour. Whoever proved a
/// number before always gets a text to it, within that number's own limits.
package struct SendGuard: Sendable {
    private let policy: PhonePolicy
    private let limitsRates: Bool

    /// Decides by a policy.
    ///
    /// - Parameter limitsRates: whether limits on how often hold; country, type and freeze always do.
    package init(policy: PhonePolicy, limitsRates: Bool) {
        self.policy = policy
        self.limitsRates = limitsRates
    }

    /// The part of a number that whole blocks are rented by: all but the last four digits.
    package static func prefix(of number: PhoneNumber) -> String {
        String(number.e164.dropLast(4))
    }

    /// Refuses in the open what a user asks too often. Both limits count what the user asked for, not what was sent:
    /// the answer depends on nothing that others did and on nothing about the number.
    ///
    /// - Throws: ``Refusal`` `rate_limited`.
    package func requireWithinUserLimits(_ attempt: SendAttempt, _ counts: SendCounts) throws(Refusal) {
        guard limitsRates else { return }
        guard counts.otherNumbersOfUser < policy.numbersPerUser else {
            throw Refusal(
                .rateLimited, "You tried \(policy.numbersPerUser) numbers lately: try one of them.",
                retryAfter: Int(policy.numbersPerUserPeriod))
        }
        let mine = attempt.isOwner ? policy.sendsPerDayPerNumber : policy.sendsPerDayPerNumberAndUser
        guard counts.askedByUserToday < mine else {
            throw Refusal(
                .rateLimited, "You asked for \(mine) texts to this number in a day: try again tomorrow.",
                retryAfter: 86_400)
        }
    }

    /// Decides whether a text goes out. A refusal is not to be seen from outside.
    package func decide(_ attempt: SendAttempt, _ counts: SendCounts) -> SendDecision {
        if !policy.countries.contains(attempt.number.region) { return .withhold(.country, thins: nil) }
        if policy.refusedTypes.contains(attempt.number.type.rawValue) { return .withhold(.type, thins: nil) }
        if attempt.isFrozen { return .withhold(.frozen, thins: nil) }
        guard limitsRates else { return .send(bearsOn: [], through: []) }
        if counts.numberLastHour >= policy.sendsPerHourPerNumber
            || counts.numberLastDay >= policy.sendsPerDayPerNumber
        {
            return .withhold(.numberLimit, thins: nil)
        }
        if exceedsSpending(attempt, counts) { return .withhold(.spendCeiling, thins: nil) }
        guard counts.prefix.hour.sends < policy.sendsPerHourPerPrefix else {
            return .withhold(.prefixLimit, thins: nil)
        }
        if attempt.isOwner { return .send(bearsOn: [], through: []) }
        return decideForStranger(counts)
    }

    /// Somebody who has not proven the number.
    private func decideForStranger(_ counts: SendCounts) -> SendDecision {
        for scope in SendScope.allCases
        where counts.thinned[scope] == nil && convertsTooFew(counts.conversion(of: scope)) {
            return .withhold(WithheldReason(scope), thins: scope)
        }
        for scope in SendScope.allCases {
            guard let through = counts.thinned[scope] else { continue }
            guard counts.group.hour.unverified <= 0,
                through.unverified < policy.thinnedPerHour + through.verified
            else { return .withhold(WithheldReason(scope), thins: nil) }
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
        return .send(bearsOn: bearing(counts), through: Set(counts.thinned.keys))
    }

    private func bearing(_ counts: SendCounts) -> Set<SendScope> {
        guard counts.thinned.isEmpty, counts.prefix.hour.unverified <= 0, counts.group.hour.unverified <= 0 else {
            return []
        }
        return counts.provider.unverified < (policy.breakerSends + 1) / 2 ? [.provider, .country] : [.provider]
    }

    /// A part of the day's spending is kept from new accounts, and a part of it from each provider's users, owners of proven
    /// numbers aside.
    private func exceedsSpending(_ attempt: SendAttempt, _ counts: SendCounts) -> Bool {
        func exceeds(_ spent: Int, _ ceiling: Int, keeping percent: Int) -> Bool {
            (spent + policy.textPrice) * 100 > ceiling * (100 - percent)
        }
        if attempt.isOwner { return exceeds(counts.spentToday, policy.spendPerDay, keeping: 0) }
        let kept = attempt.age == .new ? policy.spendReservedPercent : 0
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
