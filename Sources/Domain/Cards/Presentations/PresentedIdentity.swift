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
}

package extension PresentedIdentity {
    /// The name space of a mobile driving licence's elements.
    static let licenceNameSpace = "org.iso.18013.5.1"

    /// The claims or elements that become the name and the number of a card, which others see.
    static let texts = ["family_name", "given_name", "document_number"]

    /// The longest such text, in characters, which ISO/IEC 18013-5 §7.2.1 gives.
    static let longestText = 150

    /// Why a value cannot be a text of a card: it cannot be shown to others. A holder with one name has an empty text.
    ///
    /// - Parameter text: `nil` if the value is not a text.
    static func defect(of text: String?, in name: String) -> PresentationDefect? {
        guard let text else { return PresentationDefect(.malformed, "The \(name) is not a text.") }
        guard text.unicodeScalars.count <= longestText else {
            return PresentationDefect(.malformed, "The \(name) has more than \(longestText) characters.")
        }
        guard PlainText.isPlain(text, for: .prose) else {
            return PresentationDefect(.malformed, "The \(name) has a character that cannot be seen.")
        }
        return text.utf8.allSatisfy { $0 == 0x20 } || !PlainText.isBlank(text)
            ? nil : PresentationDefect(.malformed, "The \(name) shows nothing.")
    }

    /// A text of a card; `nil` if the holder has none.
    static func text(_ text: String?) -> String? {
        text.flatMap { PlainText.isBlank($0) ? nil : $0 }
    }
}
