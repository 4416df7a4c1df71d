/// Texts that were sent in some time, and how many of them brought a right code.
package struct Conversion: Sendable, Equatable {
    package var sends: Int
    /// Those whose code was shown.
    package var verified: Int

    package init(sends: Int = 0, verified: Int = 0) {
        self.sends = sends
        self.verified = verified
    }

    /// Texts without a right code; some of them may still get one.
    package var unverified: Int { sends - verified }
}

/// The same in the last hour and in the last 24.
package struct Tally: Sendable, Equatable {
    package var hour: Conversion
    /// In the last 24 hours.
    package var day: Conversion

    package init(hour: Conversion = Conversion(), day: Conversion = Conversion()) {
        self.hour = hour
        self.day = day
    }
}

/// What is thinned out if too few codes come back: only so many texts go out there, the first of each group of requesters.
package enum SendScope: String, Sendable, CaseIterable {
    /// The 10,000 numbers that share all but the last four digits.
    case prefix
    /// The accounts of one age of a provider, in one country.
    case provider
    /// The accounts of one age, of all providers, in one country.
    case country
}

/// What was sent before, as far as it bears on one attempt.
package struct SendCounts: Sendable {
    /// Other numbers that the user tried in the policy's period, whether or not a text went out.
    package var otherNumbersOfUser = 0
    /// What the user asked for to this number in 24 hours, whether or not a text went out.
    package var askedByUserToday = 0
    /// Texts to the number in an hour, out of the budget that the attempt draws on: the owner's or everybody else's.
    package var numberLastHour = 0
    /// The same in 24 hours.
    package var numberLastDay = 0
    /// Texts to the number's prefix, out of the budget that the attempt draws on: the owners' or everybody else's.
    package var prefix = Tally()
    /// Texts to the number's prefix that somebody in the requester's network caused.
    package var prefixFromNetwork = Tally()
    /// Texts that the requester's group caused: accounts of one provider and age, in one network.
    package var group = Tally()
    /// What bears on the provider's accounts of this age in this country, in an hour.
    package var provider = Conversion()
    /// What bears on all accounts of this age in this country, in an hour.
    package var country = Conversion()
    /// What is thinned out, and what got through there in an hour all the same.
    package var thinned: [SendScope: Conversion] = [:]
    /// What the texts of this day cost so far, in thousandths of the currency.
    package var spentToday = 0
    /// The same for the texts of this provider's users.
    package var spentTodayByProvider = 0

    package init() {}

    /// What the breaker evaluates a scope by.
    func conversion(of scope: SendScope) -> Conversion {
        switch scope {
        case .prefix: prefix.hour
        case .provider: provider
        case .country: country
        }
    }
}
