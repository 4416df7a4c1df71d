import Foundation
import PhoneNumbers

/// Codes in text messages, and the numbers that get them: `Policies/phones.yaml`.
package struct PhonePolicy: Sendable, Equatable {
    package var digits = 6
    /// Seconds from the start to the expiry of a verification; a resend does not extend it.
    package var lifetime: TimeInterval = 300
    /// Checks allowed for one verification.
    package var checksPerVerification = 5
    /// The waits before each resend, counted from the previous text. One entry for each resend.
    package var resendAfter: [TimeInterval] = [30, 60, 120]
    /// Texts in an hour to one number.
    package var sendsPerHourPerNumber = 5
    /// Texts in 24 hours to one number.
    package var sendsPerDayPerNumber = 10
    /// How many of those a user may request who is not the number's verified owner.
    package var sendsPerDayPerNumberAndUser = 3
    /// Wrong codes in a row after which the user's checks of that number are frozen.
    package var failuresBeforeFreeze = 20
    /// How long the freeze lasts.
    package var freeze: TimeInterval = 86_400
    /// Texts in an hour requested by one sender.
    package var sendsPerHourPerSender = NetworkLimits(perAddress: 10, per56: 20, per48: 80)
    /// Different numbers that one user may try in ``numbersPerUserPeriod``.
    package var numbersPerUser = 5
    package var numbersPerUserPeriod: TimeInterval = 30 * 86_400
    /// Countries whose numbers get texts, ISO 3166-1 alpha-2.
    package var countries = ["US", "CA"]
    /// Types of number that get no text, by the raw values of `PhoneNumber.NumberType`.
    package var refusedTypes = ["premium_rate", "toll_free", "voip"]
    /// Texts in an hour to one prefix: the 10,000 numbers that share all but the last four digits.
    package var sendsPerHourPerPrefix = 100
    /// Texts in an hour to one prefix without a right code; each right code allows one more.
    package var unverifiedPerHourPerPrefix = 10
    /// Texts in 24 hours to one prefix without a right code; each right code allows one more.
    package var unverifiedPerDayPerPrefix = 20
    /// The age at which an account is settled. An account that proved a number is settled at once.
    package var settledAfter: TimeInterval = 7 * 86_400
    /// Texts in an hour without a right code for one group of requesters (provider, network and age of the account).
    package var unverifiedPerHourPerGroup = 10
    /// Texts in 24 hours without a right code for one group of requesters.
    package var unverifiedPerDayPerGroup = 30
    /// The texts in an hour at which the breaker evaluates a prefix, a provider's accounts or a country.
    package var breakerSends = 50
    /// The percentage of those texts that must lead to a right code.
    package var breakerVerifiedPercent = 15
    /// How long a scope stays limited after fewer of its texts did.
    package var breakerPause: TimeInterval = 3600
    /// Texts in an hour that a limited scope may still send; each right code allows one more.
    package var thinnedPerHour = 10
    /// The higher limit for trusted groups of requesters and for requests with evidence of a person, which thus take
    /// precedence.
    package var thinnedFirstPerHour = 2000
    /// What one text costs, in thousandths of the currency.
    package var textPrice = 8
    /// The most that the texts of one day (UTC) may cost, in thousandths of the currency.
    package var spendPerDay = 100_000
    /// The part of that amount that the texts of one provider's users may cost.
    package var spendPerDayPerProvider = 80_000
    /// The percentage of both amounts that new accounts may not spend.
    package var spendReservedPercent = 20
    /// The percentage of both amounts that new accounts of untrusted groups may not spend in addition. Evidence of a
    /// person halves it.
    package var spendTrustedPercent = 30
    /// The ARNs of the Amazon SNS platform applications whose endpoints users may register.
    package var pushApplications: [String] = []
    /// The largest number of a user's devices that receive pushes.
    package var pushEndpointsPerUser = 8
    /// Whether a user must send a presence proof to request a text.
    package var presenceRequired = false
    /// Whether only devices whose key is attested get texts.
    package var attestedOnly = false

    package init() {}
}
