import Foundation

/// Texts that were sent in some time, and how many of them led to a right code.
package struct Conversion: Sendable, Equatable {
    package var sends: Int
    /// Texts whose code was submitted.
    package var verified: Int

    package init(sends: Int = 0, verified: Int = 0) {
        self.sends = sends
        self.verified = verified
    }

    /// Texts without a right code; some of them may still get one.
    package var unverified: Int { sends - verified }
}

/// The same for the last hour and the last 24 hours.
package struct Tally: Sendable, Equatable {
    package var hour: Conversion
    /// In the last 24 hours.
    package var day: Conversion

    package init(hour: Conversion = Conversion(), day: Conversion = Conversion()) {
        self.hour = hour
        self.day = day
    }
}

/// The scopes in which the breaker limits texts if too few lead to a right code. A limited scope still sends an
/// hourly number of texts, many more of them for trusted groups.
package enum SendScope: String, Sendable, CaseIterable {
    /// The 10,000 numbers that share all but the last four digits.
    case prefix
    /// The accounts of one provider and one age, in one country.
    case provider
    /// The accounts of one age, of all providers, in one country.
    case country
}

/// The counts of earlier texts that one attempt is decided by.
package struct SendCounts: Sendable {
    /// Other numbers that the user tried in the policy's period, whether or not a text was sent.
    package var otherNumbersOfUser = 0
    /// Texts that the user requested to this number in 24 hours, whether or not one was sent.
    package var askedByUserToday = 0
    /// Texts to the number in an hour. Only those of the attempt's budget: the owner's, or everybody else's.
    package var numberLastHour = 0
    /// The same in 24 hours.
    package var numberLastDay = 0
    /// Texts to the number's prefix. Only those of the attempt's budget: the owners', or everybody else's.
    package var prefix = Tally()
    /// Texts to the number's prefix that requesters in the same network caused.
    package var prefixFromNetwork = Tally()
    /// Texts that the requester's group caused: accounts of one provider and age, in one network.
    package var group = Tally()
    /// The same texts in ``groupPeriod``.
    package var groupInPeriod = Conversion()
    /// Texts that count for the provider's accounts of this age in this country, in an hour.
    package var provider = Conversion()
    /// Texts that count for all accounts of this age in this country, in an hour.
    package var country = Conversion()
    /// The scopes that are limited by the breaker, with the texts that were still sent there in an hour.
    package var thinned: [SendScope: Conversion] = [:]
    /// The cost of this day's texts so far, in thousandths of the currency.
    package var spentToday = 0
    /// The same for the texts of this provider's users.
    package var spentTodayByProvider = 0

    package init() {}

    /// How long a text without a right code is held against its group.
    package static let groupPeriod: TimeInterval = 7 * 86_400

    /// The counts by which the breaker evaluates a scope.
    func conversion(of scope: SendScope) -> Conversion {
        switch scope {
        case .prefix: prefix.hour
        case .provider: provider
        case .country: country
        }
    }
}
