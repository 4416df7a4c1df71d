import Domain
import Encoding

/// A mobile document that passed all rules: its issuer is trusted, and the device to which it was issued presents it for
/// this request.
package struct PresentedDocument: Sendable, Confidential {
    /// The document type, such as `org.iso.18013.5.1.mDL`.
    let type: String
    /// The signer that the issuer certified.
    let signer: CredentialSigner
    private let document: MobileDocument
}

package extension PresentedDocument {
    /// Verifies a document.
    ///
    /// - Throws: the first defect, in the order of ``DocumentRules/all``.
    init(verifying input: DocumentRules.Input) throws(PresentationDefect) {
        try DocumentRules.all.require(input)
        signer = try input.signer.get()
        document = input.document
        type = input.document.type
    }

    /// The value of an element; `nil` if it was not presented.
    func value(_ element: String, in nameSpace: String) -> CBORValue? {
        document.items.first { RequestedCredential.isSame($0.path, [nameSpace, element]) }?.value
    }

    /// The key of the device to which the credential was issued, as a SubjectPublicKeyInfo in DER.
    var holderKey: [UInt8] { document.security.deviceKey.subjectPublicKeyInfo }

    /// The day that an element states; `nil` if it was not presented.
    func date(_ element: String) -> CalendarDate? { document.date(element) }

    /// Whether the holder is at least this old; `nil` if the document does not say.
    func isAtLeast(_ age: Int) -> Bool? { document.isAtLeast(age) }
}
