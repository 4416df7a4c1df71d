/// What is kept of a card once it was judged: what fills the user's row, and what its holder is shown.
public struct CardFacts: Sendable, Equatable, Confidential {
    /// The form that the card was read from.
    public let source: IdentityCard.Source
    /// What kind of document it is.
    public let kind: IdentityCard.Kind
    /// The holder's name in the order of speech.
    public let fullName: String
    /// The holder's birthday.
    public let dateOfBirth: CalendarDate
    /// Where the holder lives; `nil` where the card does not say, or no more.
    public private(set) var address: PostalAddress?
    /// The normalised document number; `nil` where it was dropped after the card was archived.
    public private(set) var documentNumber: String?
    /// The last characters of the number, which may be shown.
    public let lastFour: String
    /// The issuing state, territory or province.
    public let jurisdiction: String?
    /// The issuing country, ISO 3166-1 alpha-3.
    public let country: String?
    /// The last day of validity.
    public let expiresOn: CalendarDate

    /// Takes them from a card; `nil` where the card lacks what a proof rests on, which a hard check says too.
    public init?(_ card: IdentityCard) {
        guard let dateOfBirth = card.dateOfBirth, let expiresOn = card.expiresOn, !card.name.full.isEmpty,
            !card.normalisedNumber.isEmpty
        else { return nil }
        source = card.source
        kind = card.kind
        fullName = card.name.full
        self.dateOfBirth = dateOfBirth
        address = card.address
        documentNumber = card.normalisedNumber
        lastFour = card.lastFour
        jurisdiction = card.jurisdiction
        country = card.country
        self.expiresOn = expiresOn
    }

    /// The form in which they are sealed.
    public var jsonText: String {
        let members: [(String, String?)] = [
            ("source", source.rawValue), ("kind", kind.rawValue), ("full_name", fullName),
            ("date_of_birth", dateOfBirth.text), ("street", address?.street), ("city", address?.city),
            ("address_jurisdiction", address?.jurisdiction), ("postal_code", address?.postalCode),
            ("address_country", address?.country), ("document_number", documentNumber), ("last_four", lastFour),
            ("jurisdiction", jurisdiction), ("country", country), ("expires_on", expiresOn.text),
        ]
        let present = members.compactMap { name, text in text.map { JSONMember(name: name, value: .string($0)) } }
        return JSONValue.object(present).jsonText
    }

    /// Reads ``jsonText``; `nil` for anything else.
    public init?(jsonText: String) {
        guard let value = try? StrictJSON.parse(Array(jsonText.utf8)),
            let source = value["source"]?.text.flatMap(IdentityCard.Source.init),
            let kind = value["kind"]?.text.flatMap(IdentityCard.Kind.init), let fullName = value["full_name"]?.text,
            let dateOfBirth = value["date_of_birth"]?.text.flatMap({ CalendarDate($0) }),
            let lastFour = value["last_four"]?.text,
            let expiresOn = value["expires_on"]?.text.flatMap({ CalendarDate($0) })
        else { return nil }
        let address = PostalAddress(
            street: value["street"]?.text, city: value["city"]?.text,
            jurisdiction: value["address_jurisdiction"]?.text, postalCode: value["postal_code"]?.text,
            country: value["address_country"]?.text)
        self.source = source
        self.kind = kind
        self.fullName = fullName
        self.dateOfBirth = dateOfBirth
        self.address = address == PostalAddress() ? nil : address
        documentNumber = value["document_number"]?.text
        self.lastFour = lastFour
        jurisdiction = value["jurisdiction"]?.text
        country = value["country"]?.text
        self.expiresOn = expiresOn
    }

    /// The same without some of it.
    public func without(_ dropped: Set<ArchivedDatum>) -> CardFacts {
        var facts = self
        if dropped.contains(.postalAddress) { facts.address = nil }
        if dropped.contains(.documentNumber) { facts.documentNumber = nil }
        return facts
    }
}
