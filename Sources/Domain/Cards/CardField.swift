/// One element as it is on a card: the source of a property of an ``IdentityCard``.
package struct CardField: Sendable, Equatable, Confidential {
    /// The data element: three characters such as `DCS` on an AAMVA card, the standard's name of the field in a machine
    /// readable zone.
    let element: String
    /// The value exactly as written; it may contain control characters.
    let raw: String
    /// The part of the card that contains it: subfile `DL`, `ID`, `EN` or `Zx`, or `TD1`, `TD2`, `TD3`.
    let subfile: String
    /// The property that it was read as; `nil` for optional and jurisdiction elements without one.
    let property: CardProperty?

    package init(element: String, raw: String, subfile: String, property: CardProperty?) {
        self.element = element
        self.raw = raw
        self.subfile = subfile
        self.property = property
    }
}

/// The properties of an ``IdentityCard`` that a ``CardField`` can be the source of.
package enum CardProperty: String, Sendable, CaseIterable {
    case kind, name, familyName, givenName, middleName, nameSuffix, familyTruncation, givenTruncation, middleTruncation
    case dateOfBirth, issuedOn, expiresOn, sex, street, city, addressJurisdiction, postalCode, country, nationality
    case documentNumber, documentDiscriminator, compliance, limitedDuration
}
