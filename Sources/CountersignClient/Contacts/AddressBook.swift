import Foundation

/// Somebody in an address book, as far as an app knows them. It stays on the device.
public struct Person: Sendable, Hashable, Identifiable {
    public let id: UUID
    public var firstName: String
    public var lastName: String
    public var addresses: [Address]
    public var birthday: String?

    /// One way to reach somebody.
    public struct Address: Sendable, Hashable {
        public enum Kind: String, Sendable, Hashable, CaseIterable {
            /// `<provider>/<user>`.
            case system
            /// E.164.
            case phone
            case email
            /// A postal address.
            case physical
        }

        public var type: Kind
        public var value: String
        /// Whether somebody has verified that it is theirs.
        public var isVerified: Bool

        public init(_ type: Kind, _ value: String, isVerified: Bool = false) {
            (self.type, self.value, self.isVerified) = (type, value, isVerified)
        }

        /// The form in which equal addresses are equal.
        var canonical: String {
            switch type {
            case .phone: "phone " + value.filter { $0.isNumber || $0 == "+" }
            case .system: "system " + value
            case .email, .physical: "\(type.rawValue) " + Person.folded(value)
            }
        }
    }

    public init(
        id: UUID = UUID(), firstName: String = "", lastName: String = "", addresses: [Address] = [],
        birthday: String? = nil
    ) {
        (self.id, self.firstName, self.lastName) = (id, firstName, lastName)
        (self.addresses, self.birthday) = (addresses, birthday)
    }

    /// Without case, accents and space that says nothing.
    static func folded(_ text: String) -> String {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

/// Two entries that may be one person's.
public struct PersonMatch: Sendable, Hashable {
    /// The one to keep: the one that was there first.
    public let kept: UUID
    public let duplicate: UUID
    /// How likely it is that both are the same person: 1 for entries that are equal in all that they say.
    public let probability: Double
}

/// People on the device. Duplicates are found here; nothing of it is sent anywhere.
public struct AddressBook: Sendable {
    public private(set) var people: [Person] = []
    private var owners: [String: UUID] = [:]

    public init() {}

    /// Adds people. Entries that are equal to one that is there are left out; what may be the same person is added and
    /// reported, for the user to decide.
    ///
    /// - Returns: the likely duplicates, likeliest first.
    @discardableResult
    public mutating func add(_ entries: [Person]) -> [PersonMatch] {
        let matches = Self.deduplicate(existing: people, new: entries)
        let equal = Set(matches.filter { $0.probability == 1 }.map(\.duplicate))
        for person in entries where !equal.contains(person.id) {
            people.append(person)
            for address in person.addresses {
                // Who has verified an address has it, before whoever was first.
                if owners[address.canonical] == nil || address.isVerified { owners[address.canonical] = person.id }
            }
        }
        return matches
    }

    /// The person with an address; `nil` for nobody.
    public func resolve(_ address: Person.Address) -> UUID? { owners[address.canonical] }

    /// Finds duplicates among new entries, and between them and existing ones, which take precedence. What is equal in
    /// everything is found first; the others are compared by how their names sound.
    ///
    /// - Returns: the likely duplicates, likeliest first; each entry is the duplicate of one other at most.
    public static func deduplicate(existing: [Person], new: [Person]) -> [PersonMatch] {
        var matches: [PersonMatch] = []
        var kept = Candidates()
        for person in existing { kept.add(Fingerprint(person)) }
        for person in new {
            let one = Fingerprint(person)
            if let match = kept.match(of: one) { matches.append(match) }
            // What equals another brings nothing new to compare with.
            if matches.last?.duplicate != person.id || matches.last?.probability != 1 { kept.add(one) }
        }
        return matches.sorted { $0.probability > $1.probability }
    }
}

/// What two entries are compared by.
private struct Fingerprint {
    let id: UUID
    let firstName: String
    let lastName: String
    let firstSound: String
    let lastSound: String
    let birthday: String?
    let addresses: Set<String>

    init(_ person: Person) {
        id = person.id
        (firstName, lastName) = (Person.folded(person.firstName), Person.folded(person.lastName))
        (firstSound, lastSound) = (Metaphone.code(person.firstName), Metaphone.code(person.lastName))
        birthday = person.birthday
        addresses = Set(person.addresses.map(\.canonical))
    }

    func isEqual(to other: Fingerprint) -> Bool {
        firstName == other.firstName && lastName == other.lastName && birthday == other.birthday
            && addresses == other.addresses
    }

    /// How likely both are the same person; 0 if nothing speaks for it.
    func probability(_ other: Fingerprint) -> Double {
        if isEqual(to: other) { return 1 }
        if let birthday, let theirs = other.birthday, birthday != theirs { return 0 }
        let sharesAddress = !addresses.isDisjoint(with: other.addresses)
        let names =
            Self.likeness(firstName, other.firstName, firstSound, other.firstSound)
            * Self.likeness(lastName, other.lastName, lastSound, other.lastSound)
        // A family shares a telephone: an address alone says less than a name with it.
        if sharesAddress { return names > 0 ? 0.8 + 0.15 * names : 0.3 }
        let hasBirthday = birthday != nil && other.birthday != nil
        return names * (hasBirthday ? 0.9 : 0.6)
    }

    /// 1 for the same name, less for one that sounds like it or is not known, 0 for another.
    private static func likeness(_ one: String, _ other: String, _ sound: String, _ otherSound: String) -> Double {
        if one == other { return one.isEmpty ? 0.5 : 1 }
        if one.isEmpty || other.isEmpty { return 0.5 }
        return !sound.isEmpty && sound == otherSound ? 0.7 : 0
    }
}

/// Those who stay, found by what a duplicate has in common with them: no entry is compared with all others.
private struct Candidates {
    private var people: [Fingerprint] = []
    private var places: [String: [Int]] = [:]

    /// Entries that share something ordinary, such as a family name, and are compared at most.
    private static let compared = 200

    private func keys(_ one: Fingerprint) -> [String] {
        var keys = Array(one.addresses)
        if !one.lastSound.isEmpty { keys.append("last " + one.lastSound) }
        if !one.lastName.isEmpty { keys.append("name \(one.firstName) \(one.lastName)") }
        if one.lastName.isEmpty, !one.firstName.isEmpty { keys.append("first " + one.firstName) }
        return keys
    }

    mutating func add(_ one: Fingerprint) {
        for key in keys(one) { places[key, default: []].append(people.count) }
        people.append(one)
    }

    /// The likeliest one, the first of several.
    func match(of one: Fingerprint) -> PersonMatch? {
        let near = Set(keys(one).flatMap { places[$0, default: []].prefix(Self.compared) }).sorted()
        var best: (id: UUID, probability: Double)?
        for other in near.map({ people[$0] }) where other.id != one.id {
            let probability = other.probability(one)
            if probability > best?.probability ?? 0.2 { best = (other.id, probability) }
        }
        return best.map { PersonMatch(kept: $0.id, duplicate: one.id, probability: $0.probability) }
    }
}
