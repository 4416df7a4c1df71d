import Foundation
import PhoneNumbers

/// Codes in text messages, and the numbers that get them: `Policies/phones.yaml`.
package struct PhonePolicy: Sendable, Equatable {
    package var digits = 6
    /// From the start to expiry; a resend does not extend it.
    package var lifetime: TimeInterval = 300
    /// Checks allowed for one verification.
    package var checksPerVerification = 5
    /// The waits before each resend, counted from the send before it. One entry for each resend.
    package var resendAfter: [TimeInterval] = [30, 60, 120]
    /// Texts in an hour to one number.
    package var sendsPerHourPerNumber = 5
    /// Texts in 24 hours to one number.
    package var sendsPerDayPerNumber = 10
    /// How many of those one user may cause who is not the number's verified owner.
    package var sendsPerDayPerNumberAndUser = 3
    /// Wrong codes in a row after which the user's checks of that number are frozen.
    package var failuresBeforeFreeze = 20
    /// How long the freeze lasts.
    package var freeze: TimeInterval = 86_400
    /// Texts in an hour caused from one address (/32 of IPv4, /64 of IPv6).
    package var sendsPerHourPerAddress = 10
    /// The same from one IPv6 network of /56.
    package var sendsPerHourPer56 = 20
    /// The same from one IPv6 network of /48.
    package var sendsPerHourPer48 = 80
    /// Different numbers that one user may try in ``numbersPerUserPeriod``.
    package var numbersPerUser = 5
    /// The period of ``numbersPerUser``.
    package var numbersPerUserPeriod: TimeInterval = 30 * 86_400
    /// Countries whose numbers get texts, ISO 3166-1 alpha-2.
    package var countries = ["US", "CA"]
    /// Kinds of number that get no text, by the raw values of `PhoneNumberType`.
    package var refusedTypes = ["premium_rate", "toll_free", "voip"]
    /// Texts in an hour to one prefix: the 10,000 numbers that share all but the last four digits.
    package var sendsPerHourPerPrefix = 100
    /// Texts in an hour to one prefix that may lack a right code; each right code allows one more.
    package var unverifiedPerHourPerPrefix = 10
    /// The same in 24 hours.
    package var unverifiedPerDayPerPrefix = 20
    /// The age at which an account is settled; one that proved a number is settled at once.
    package var settledAfter: TimeInterval = 7 * 86_400
    /// Texts in an hour of one group of requesters (provider, network and age of the account) that may lack a right
    /// code.
    package var unverifiedPerHourPerGroup = 10
    /// The same in 24 hours.
    package var unverifiedPerDayPerGroup = 30
    /// The texts in an hour at which the breaker evaluates a prefix, a provider's accounts or a country.
    package var breakerSends = 50
    /// The percentage of those texts that must lead to a right code.
    package var breakerVerifiedPercent = 15
    /// How long a scope stays limited if fewer do.
    package var breakerPause: TimeInterval = 3600
    /// Texts in an hour that a limited scope still sends; each right code allows one more.
    package var thinnedPerHour = 10
    /// The same for trusted groups of requesters and for requests with evidence of a person, which thus come first.
    package var thinnedFirstPerHour = 2000
    /// What one text costs, in thousandths of the currency.
    package var textPrice = 8
    /// The most that the texts of one day (UTC) may cost, in thousandths of the currency.
    package var spendPerDay = 100_000
    /// The part of it that the texts of one provider's users may cost.
    package var spendPerDayPerProvider = 80_000
    /// The percentage of both that new accounts may not spend.
    package var spendReservedPercent = 20
    /// The percentage of both that new accounts of groups that are not trusted may not spend either. Evidence of a
    /// person halves it.
    package var spendTrustedPercent = 30
    /// The ARNs of the Amazon SNS platform applications whose endpoints users may register.
    package var pushApplications: [String] = []
    /// Whether a user must send a presence proof before a text is sent.
    package var presenceRequired = false

    package init() {}

    /// Texts in an hour caused by one sender.
    package var sendsPerHourPerSender: NetworkLimits {
        NetworkLimits(perAddress: sendsPerHourPerAddress, per56: sendsPerHourPer56, per48: sendsPerHourPer48)
    }
}
