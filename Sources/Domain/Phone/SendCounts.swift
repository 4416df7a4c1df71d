import Foundation

/// The texts sent in a period, and how many of them led to a right code.
package struct Conversion: Sendable, Equatable {
    package var sends: Int
    /// Texts whose right code was submitted.
    package var verified: Int

    package init(sends: Int = 0, verified: Int = 0) {
        self.sends = sends
        self.verified = verified
    }

    /// Texts without a right code. Some may still get one.
    var unverified: Int { sends - verified }
}

/// The texts of the last hour and of the last 24 hours.
package struct Tally: Sendable, Equatable {
    package var hour: Conversion
    /// Texts in the last 24 hours.
    package var day: Conversion

    package init(hour: Conversion = Conversion(), day: Conversion = Conversion()) {
        self.hour = hour
        self.day = day
    }
}

/// The scopes in which the breaker limits texts if too few lead to a right code. A limited scope may still send a
/// number of texts per hour, and more of them for trusted groups.
package enum SendScope: String, Sendable, CaseIterable {
    /// The 10,000 numbers that share all but the last four digits.
    case prefix
    /// The accounts of one provider and one age, in one country.
    case provider
    /// The accounts of one age, of all providers, in one country.
    case country
}

/// The numbers of earlier texts, on which the decision about one attempt depends.
package struct SendCounts: Sendable {
    /// Other numbers that the user tried in the policy's period, whether or not a text was sent.
    package var otherNumbersOfUser = 0
    /// Texts to this number that the user requested in 24 hours, whether or not they were sent.
    package var askedByUserToday = 0
    /// Texts to the number in an hour, within the attempt's budget only: the owner's, or that of all other users.
    package var numberLastHour = 0
    /// Texts to the number in 24 hours, within the attempt's budget only.
    package var numberLastDay = 0
    /// Texts to the number's prefix, within the attempt's budget only: the owners', or that of all other users.
    var prefix = Tally()
    /// Texts to the number's prefix that were requested from the same network.
    var prefixFromNetwork = Tally()
    /// Texts that the requester's group requested: accounts of one provider and age, in one network.
    var group = Tally()
    /// Texts that the requester's group requested in ``groupPeriod``.
    package var groupInPeriod = Conversion()
    /// Texts in an hour that are attributed to the provider's accounts of this age in this country.
    var provider = Conversion()
    /// Texts in an hour that are attributed to all accounts of this age in this country.
    var country = Conversion()
    /// The scopes that the breaker limits, with the texts that they still sent in an hour.
    var thinned: [SendScope: Conversion] = [:]
    /// The cost of the day's texts so far, in thousandths of the currency.
    package var spentToday = 0
    /// The cost of the day's texts of this provider's users, in thousandths of the currency.
    package var spentTodayByProvider = 0

    package init() {}

    /// How long a text without a right code reduces the trust in its group.
    package static let groupPeriod: TimeInterval = 7 * 86_400

    /// The texts by which the breaker evaluates a scope.
    func conversion(of scope: SendScope) -> Conversion {
        switch scope {
        case .prefix: prefix.hour
        case .provider: provider
        case .country: country
        }
    }
}
