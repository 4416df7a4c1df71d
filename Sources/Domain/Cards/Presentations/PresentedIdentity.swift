/// The holder of a credential that passed all rules, in the form that both formats of credentials have in common.
package struct PresentedIdentity: Sendable, Equatable, Confidential {
    package let source: IdentityCard.Source
    package let kind: IdentityCard.Kind
    package let familyName: String?
    package let givenName: String?
    package let dateOfBirth: CalendarDate?
    package let issuedOn: CalendarDate?
    package let expiresOn: CalendarDate?
    package let documentNumber: String?
    /// The country and the state of the issuer, from its certificate: two letters, and for instance `US-VA`.
    package let country: String?
    package let jurisdiction: String?

    package init(
        source: IdentityCard.Source, kind: IdentityCard.Kind, familyName: String?, givenName: String?,
        dateOfBirth: CalendarDate?, issuedOn: CalendarDate?, expiresOn: CalendarDate?, documentNumber: String?,
        country: String?, jurisdiction: String?
    ) {
        self.source = source
        self.kind = kind
        self.familyName = familyName
        self.givenName = givenName
        self.dateOfBirth = dateOfBirth
        self.issuedOn = issuedOn
        self.expiresOn = expiresOn
        self.documentNumber = documentNumber
        self.country = country
        self.jurisdiction = jurisdiction
    }

    /// The name space of a mobile driving licence's elements.
    package static let licenceNameSpace = "org.iso.18013.5.1"
}
