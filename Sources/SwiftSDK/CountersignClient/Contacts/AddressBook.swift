import Foundation

/// A person in an address book, as the app knows them. It is never sent.
public struct Person: Sendable, Hashable, Identifiable {
    public let id: UUID
    public var firstName: String
    public var lastName: String
    public var addresses: [Address]
    public var birthday: String?

    /// An address of a person.
    public struct Address: Sendable, Hashable {
        public enum Kind: String, Sendable, Hashable, CaseIterable {
            /// A name at the service, `<provider>/<user>`.
            case system
            /// A phone number in E.164 form.
            case phone
            case email
            case physical
        }

        public var type: Kind
        public var value: String
        /// Whether the person has verified it.
        public var isVerified: Bool

        public init(_ type: Kind, _ value: String, isVerified: Bool = false) {
            (self.type, self.value, self.isVerified) = (type, value, isVerified)
        }

        /// The canonical form, by which addresses are compared.
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

    /// Without case, accents and redundant space.
    static func folded(_ text: String) -> String {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

/// Two entries that may be the same person.
public struct PersonMatch: Sendable, Hashable {
    /// The entry to keep: the earlier one.
    public let kept: UUID
    public let duplicate: UUID
    /// The probability that both are the same person; 1 for entries that are equal in everything.
    public let probability: Double
}

/// People on the device. Duplicates are found here, and nothing is sent.
public struct AddressBook: Sendable {
    public private(set) var people: [Person] = []
    private var owners: [String: UUID] = [:]

    public init() {}

    /// Adds people. Entries that equal an existing one are left out. Entries that may be the same person are added and
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
                // The person who has verified an address owns it, before the first person with it.
                if owners[address.canonical] == nil || address.isVerified { owners[address.canonical] = person.id }
            }
        }
        return matches
    }

    /// The person with an address; `nil` if there is none.
    public func resolve(_ address: Person.Address) -> UUID? { owners[address.canonical] }

    /// Finds duplicates among new entries, and between new and existing ones, which take precedence. Equal entries are
    /// found first. Others are compared by the sound of their names.
    ///
    /// - Returns: the likely duplicates, likeliest first. Each entry is the duplicate of at most one other.
    public static func deduplicate(existing: [Person], new: [Person]) -> [PersonMatch] {
        var matches: [PersonMatch] = []
        var kept = Candidates()
        for person in existing { kept.add(Fingerprint(person)) }
        for person in new {
            let one = Fingerprint(person)
            if let match = kept.match(of: one) { matches.append(match) }
            // An entry that equals another one adds nothing to compare with.
            if matches.last?.duplicate != person.id || matches.last?.probability != 1 { kept.add(one) }
        }
        return matches.sorted { $0.probability > $1.probability }
    }
}

/// The values by which entries are compared.
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

    /// The probability that both are the same person; 0 without any evidence.
    func probability(_ other: Fingerprint) -> Double {
        if isEqual(to: other) { return 1 }
        if let birthday, let theirs = other.birthday, birthday != theirs { return 0 }
        let sharesAddress = !addresses.isDisjoint(with: other.addresses)
        let names =
            Self.likeness(firstName, other.firstName, firstSound, other.firstSound)
            * Self.likeness(lastName, other.lastName, lastSound, other.lastSound)
        // Families share telephones, so an address without a similar name is weak evidence.
        if sharesAddress { return names > 0 ? 0.8 + 0.15 * names : 0.3 }
        let hasBirthday = birthday != nil && other.birthday != nil
        return names * (hasBirthday ? 0.9 : 0.6)
    }

    /// How much two names are alike: 1 if they are equal, less if they sound alike or one is unknown, 0 if they differ.
    private static func likeness(_ one: String, _ other: String, _ sound: String, _ otherSound: String) -> Double {
        if one == other { return one.isEmpty ? 0.5 : 1 }
        if one.isEmpty || other.isEmpty { return 0.5 }
        return !sound.isEmpty && sound == otherSound ? 0.7 : 0
    }
}

/// Kept entries, indexed by what duplicates share with them, so that no entry is compared with all others.
private struct Candidates {
    private var people: [Fingerprint] = []
    private var places: [String: [Int]] = [:]

    /// The maximum number of entries that are compared because they share one feature, such as a family name.
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

    /// The likeliest match, or the first of several.
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
