/// The credentials that wallets are asked for. The queries are fixed, so an app cannot ask for more.
///
/// An age is asked of mobile documents alone. A PID (EU digital identity) has no statement about it. Only claims that
/// every document must have are requested, because a missing one refuses the answer.
package enum WalletQuery {}

package extension WalletQuery {
    /// The credentials of which a wallet presents one.
    static func credentials(for wanted: Presentation.Wanted) -> [RequestedCredential] {
        switch wanted {
        case .identity: [licence(licenceClaims), personIdentification]
        case .over18, .over21: [ageVerification(wanted.rawValue), licence([wanted.rawValue])]
        }
    }

    /// The one document that `org-iso-mdoc` asks for. Wallets present all documents that such a request names.
    static func isoDocument(for wanted: Presentation.Wanted) -> RequestedCredential {
        wanted == .identity ? licence(licenceClaims) : licence([wanted.rawValue])
    }

    /// Whether the value of a claim is stored, or for an age what it says. Wallets show it to their holders.
    static func isRetained(_ claim: [String]) -> Bool { claim.last != "issue_date" }

    /// A mobile driving licence (ISO/IEC 18013-5 §7).
    private static func licence(_ elements: [String]) -> RequestedCredential {
        RequestedCredential(
            id: "mdl", format: .mobileDocument, type: "org.iso.18013.5.1.mDL",
            claims: elements.map { [PresentedIdentity.licenceNameSpace, $0] })
    }

    private static let licenceClaims = [
        "family_name", "given_name", "birth_date", "issue_date", "expiry_date", "issuing_country", "document_number",
    ]

    /// The proof of age of the European Union.
    private static func ageVerification(_ element: String) -> RequestedCredential {
        let name = "eu.europa.ec.av.1"
        return RequestedCredential(id: "av", format: .mobileDocument, type: name, claims: [[name, element]])
    }

    private static let personIdentification = RequestedCredential(
        id: "pid", format: .selectiveDisclosure, type: "urn:eudi:pid:1",
        claims: ["family_name", "given_name", "birthdate", "date_of_expiry", "issuing_country", "document_number"].map {
            [$0]
        })
}
