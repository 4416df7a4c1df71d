/// The signature that some issuers write into a barcode (W3C Verifiable Credential Barcodes), as it was found on a card.
package struct IssuerSignature: Sendable, Equatable, Confidential {
    package let state: State
    /// The signed credential, CBOR-LD; `nil` if there is none, or if it was purged. It contains the document's index in
    /// the issuer's status list, so it identifies the document as its number does.
    package let credential: [UInt8]?
}

package extension IssuerSignature {
    /// What is known of the signature.
    enum State: String, Sendable, CaseIterable {
        /// The card has none. Most cards do not, and no machine readable zone does.
        case none
        /// The card carries a credential that is not verified. Either no key of its issuer is pinned, or it does not
        /// protect all data that identifies the holder.
        case present
        /// The card has a field for a credential, but its content is not one.
        case unreadable
        /// A pinned key of the issuer signed the data that identifies the holder and the document.
        case verified
        /// The credential names a pinned key, which did not sign it for this card.
        case invalid
    }

    init(_ state: State, credential: [UInt8]? = nil) {
        self.state = state
        self.credential = credential
    }
}
