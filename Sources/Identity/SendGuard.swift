import Foundation

/// Texts that were sent in some time, and how many of them brought a right code.
public struct Conversion: Sendable, Equatable {
    /// Texts.
    public var sends: Int
    /// Those whose code was shown.
    public var verified: Int

    /// Joins the two.
    public init(sends: Int = 0, verified: Int = 0) {
        self.sends = sends
        self.verified = verified
    }

    /// Texts without a right code; some of them may still get one.
    public var unverified: Int { sends - verified }
}

/// A text that somebody asks for.
public struct SendAttempt: Sendable {
    /// To which number.
    public let number: PhoneNumber
    /// Whether the number is the user's by an earlier proof.
    public let isOwner: Bool
    /// Whether the user and number are frozen after wrong codes.
    public let isFrozen: Bool

    /// Joins the parts.
    public init(number: PhoneNumber, isOwner: Bool, isFrozen: Bool) {
        self.number = number
        self.isOwner = isOwner
        self.isFrozen = isFrozen
    }
}

/// What was sent before, as far as it bears on one attempt.
public struct SendCounts: Sendable {
    /// Other numbers that the user tried in the policy's period, whether or not a text went out.
    public var otherNumbersOfUser = 0
    /// What the user asked for to this number in 24 hours, whether or not a text went out.
    public var askedByUserToday = 0
    /// Texts to the number in an hour, out of the budget that the attempt draws on: the owner's or everybody else's.
    public var numberLastHour = 0
    /// The same in 24 hours.
    public var numberLastDay = 0
    /// Texts to the number's prefix in an hour.
    public var prefixLastHour = Conversion()
    /// The same in 24 hours.
    public var prefixLastDay = Conversion()
    /// Texts to the number's country in an hour, those aside that were not the first to stay open on their prefix.
    public var country = Conversion()
    /// Whether the breaker stopped the prefix.
    public var isPrefixStopped = false
    /// Whether the breaker stopped the country.
    public var isCountryStopped = false
    /// What the texts of this day cost so far, in thousandths of the currency.
    public var spentToday = 0

    /// Nothing was sent before.
    public init() {}
}

/// Why no text goes out although its asker is told nothing of it: to say more would tell strangers about numbers.
public enum WithheldReason: String, Sendable, CaseIterable {
    case country
    case type
    case frozen
    case numberLimit = "number_limit"
    case prefixLimit = "prefix_limit"
    case prefixStopped = "prefix_stopped"
    case countryStopped = "country_stopped"
    case spendCeiling = "spend_ceiling"
}

/// What the breaker stops.
public enum SendStop: String, Sendable {
    case prefix
    case country
}

/// Whether a text goes out.
public enum SendDecision: Sendable, Equatable {
    /// It does. Texts to one prefix bear on their country only while no other there stays without a right code: an
    /// attack on one prefix, which that prefix's own limits contain, stops no country.
    case send(bearsOnCountry: Bool)
    /// It does not; `stop` where the breaker trips at this moment.
    case withhold(WithheldReason, stop: SendStop?)
}

/// Decides about texts: what a telephone fraudster earns with each text that reaches a number of his, a user's budget
/// and an operator's money. Pure: what was sent before comes in, what is decided goes out.
public struct SendGuard: Sendable {
    private let policy: PhonePolicy
    private let limitsRates: Bool

    /// Decides by a policy.
    ///
    /// - Parameter limitsRates: whether limits on how often hold; country, type and freeze always do.
    public init(policy: PhonePolicy, limitsRates: Bool) {
        self.policy = policy
        self.limitsRates = limitsRates
    }

    /// The part of a number that whole blocks are rented by: all but the last four digits.
    public static func prefix(of number: PhoneNumber) -> String {
        String(number.e164.dropLast(4))
    }

    /// Refuses in the open what a user asks too often. Both limits count what the user asked for, not what was sent:
    /// the answer depends on nothing that others did and on nothing about the number.
    ///
    /// - Throws: ``Refusal`` `rate_limited`.
    public func requireWithinUserLimits(_ attempt: SendAttempt, _ counts: SendCounts) throws(Refusal) {
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
    public func decide(_ attempt: SendAttempt, _ counts: SendCounts) -> SendDecision {
        if !policy.countries.contains(attempt.number.region) { return .withhold(.country, stop: nil) }
        if policy.refusedTypes.contains(attempt.number.type.rawValue) { return .withhold(.type, stop: nil) }
        if attempt.isFrozen { return .withhold(.frozen, stop: nil) }
        guard limitsRates else { return .send(bearsOnCountry: true) }
        if counts.numberLastHour >= policy.sendsPerHourPerNumber
            || counts.numberLastDay >= policy.sendsPerDayPerNumber
        {
            return .withhold(.numberLimit, stop: nil)
        }
        if counts.isPrefixStopped { return .withhold(.prefixStopped, stop: nil) }
        if counts.isCountryStopped { return .withhold(.countryStopped, stop: nil) }
        if counts.spentToday + policy.textPrice > policy.spendPerDay { return .withhold(.spendCeiling, stop: nil) }
        if convertsTooFew(counts.prefixLastHour) { return .withhold(.prefixStopped, stop: .prefix) }
        if convertsTooFew(counts.country) { return .withhold(.countryStopped, stop: .country) }
        guard counts.prefixLastHour.sends < policy.sendsPerHourPerPrefix,
            counts.prefixLastHour.unverified < policy.unverifiedPerHourPerPrefix + counts.prefixLastHour.verified,
            counts.prefixLastDay.unverified < policy.unverifiedPerDayPerPrefix + counts.prefixLastDay.verified
        else { return .withhold(.prefixLimit, stop: nil) }
        return .send(bearsOnCountry: counts.prefixLastHour.unverified == 0)
    }

    private func convertsTooFew(_ conversion: Conversion) -> Bool {
        conversion.sends >= policy.breakerSends
            && conversion.verified * 100 < conversion.sends * policy.breakerVerifiedPercent
    }
}
