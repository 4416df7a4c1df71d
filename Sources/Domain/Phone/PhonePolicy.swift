import Foundation
import PhoneNumbers

/// Texted codes and the numbers they go to: `Policies/phones.yaml`.
package struct PhonePolicy: Sendable, Equatable {
    package var digits = 6
    /// From the start to expiry; a resend does not extend it.
    package var lifetime: TimeInterval = 300
    /// Codes that may be tried for one verification.
    package var checksPerVerification = 5
    /// How long after the sending before it the same code may be sent again, one entry a resend.
    package var resendAfter: [TimeInterval] = [30, 60, 120]
    /// Texts in an hour to one number.
    package var sendsPerHourPerNumber = 5
    /// Texts in 24 hours to one number.
    package var sendsPerDayPerNumber = 10
    /// How many of those one user may cause who is not the number's verified owner.
    package var sendsPerDayPerNumberAndUser = 3
    /// Wrong codes in a row that freeze a user and number.
    package var failuresBeforeFreeze = 20
    /// How long they stay frozen.
    package var freeze: TimeInterval = 86_400
    /// Texts in an hour caused from one address (/32 of IPv4, /64 of IPv6).
    package var sendsPerHourPerAddress = 10
    /// Different numbers that one user may try in the period below.
    package var numbersPerUser = 5
    /// The period of ``numbersPerUser``.
    package var numbersPerUserPeriod: TimeInterval = 30 * 86_400
    /// Countries whose numbers get texts, ISO 3166-1 alpha-2.
    package var countries = ["US", "CA"]
    /// Kinds of number that get none, in the words of `PhoneNumberType`.
    package var refusedTypes = ["premium_rate", "toll_free", "voip"]
    /// Texts in an hour to one prefix: the 10,000 numbers that share all but the last four digits.
    package var sendsPerHourPerPrefix = 100
    /// Texts in an hour to one prefix that may stay without a right code; each right code allows one more.
    package var unverifiedPerHourPerPrefix = 10
    /// The same in 24 hours.
    package var unverifiedPerDayPerPrefix = 20
    /// The age from which on an account is settled; one that proved a number is settled at once.
    package var settledAfter: TimeInterval = 7 * 86_400
    /// Texts in an hour that one group of requesters (provider, network and age of the account) may leave without a right code.
    package var unverifiedPerHourPerGroup = 10
    /// The same in 24 hours.
    package var unverifiedPerDayPerGroup = 30
    /// From so many texts in an hour on, a prefix, a provider's accounts or a country must show right codes.
    package var breakerSends = 50
    /// Of how many in a hundred texts, at least.
    package var breakerVerifiedPercent = 15
    /// How long texts are thinned out if fewer are shown.
    package var breakerPause: TimeInterval = 3600
    /// Texts in an hour that go out where they are thinned out; each right code allows one more.
    package var thinnedPerHour = 10
    /// What one text costs, in thousandths of the currency.
    package var textPrice = 8
    /// What the texts of one day (UTC) may cost, in thousandths of the currency.
    package var spendPerDay = 100_000
    /// What of it the texts of one provider's users may cost.
    package var spendPerDayPerProvider = 80_000
    /// How much in a hundred of both is kept from new accounts.
    package var spendReservedPercent = 20
    /// The ARNs of the Amazon SNS platform applications whose endpoints users may register.
    package var pushApplications: [String] = []
    /// Whether a user must show to be present before a text is sent.
    package var presenceRequired = false

    package init() {}
}
