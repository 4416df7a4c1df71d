import Domain
import Encoding

package extension PresentedDocument {
    /// The holder, as a mobile driving licence names the person.
    var identity: PresentedIdentity {
        func text(_ element: String) -> String? {
            PresentedIdentity.text(value(element, in: PresentedIdentity.licenceNameSpace)?.text)
        }
        return PresentedIdentity(
            source: .mobileDocument, kind: .licence, familyName: text("family_name"), givenName: text("given_name"),
            dateOfBirth: date("birth_date"), issuedOn: date("issue_date"), expiresOn: date("expiry_date"),
            documentNumber: text("document_number"), country: signer.country, jurisdiction: signer.jurisdiction)
    }
}

package extension IdentityCard {
    /// The card that a credential has the data of, in the form in which other readers give it. So one document has one
    /// fingerprint, whichever way it was shown.
    init(_ identity: PresentedIdentity) {
        self.init(source: identity.source, kind: identity.kind)
        name = PersonName(family: identity.familyName, given: identity.givenName)
        name.familyTruncation = .complete
        name.givenTruncation = .complete
        dateOfBirth = identity.dateOfBirth
        issuedOn = identity.issuedOn
        expiresOn = identity.expiresOn
        documentNumber = identity.documentNumber ?? ""
        country = identity.country.flatMap { IssuingState.code(alpha2: $0) }
        let jurisdiction = identity.jurisdiction.flatMap { text in
            text.split(separator: "-").last.flatMap { Jurisdiction.of(code: String($0)) }
        }
        if let jurisdiction, jurisdiction.country == country { self.jurisdiction = jurisdiction.code }
        issuerSignature = IssuerSignature(.verified)
    }
}
