/// Why what a wallet presents is not accepted, with a sentence for the developer. No data of the holder is in it.
package struct PresentationDefect: Error, Sendable, Equatable {
    package let reason: Reason
    package let detail: String
    /// Whether the answer presents no credential: it reports an error, or is empty.
    let isEmpty: Bool
}

package extension PresentationDefect {
    init(_ reason: Reason, _ detail: String) {
        self.init(reason: reason, detail: detail, isEmpty: false)
    }

    /// The defect of an answer that presents no credential.
    static func empty(_ detail: String) -> PresentationDefect {
        PresentationDefect(reason: .incomplete, detail: detail, isEmpty: true)
    }

    /// The raw values are the contract's.
    enum Reason: String, Sendable, CaseIterable {
        /// The answer or a part of it has another form than the standard requires.
        case malformed
        /// The answer cannot be decrypted with the key of the request.
        case undecryptable
        /// The answer is encrypted for another key than that of the request.
        case wrongKey = "wrong_key"
        /// A credential of another type than those that were requested.
        case notAsked = "not_asked"
        /// A requested credential or claim is missing.
        case incomplete
        /// Claims or credentials that were not requested.
        case surplus
        /// One answer has credentials of different persons.
        case mixed
        /// No trusted issuer signed the credential's certificate.
        case unknownIssuer = "unknown_issuer"
        /// The certificate is not valid for this credential.
        case issuerCertificate = "issuer_certificate"
        /// The issuer's signature does not verify.
        case issuerSignature = "issuer_signature"
        /// A claim is not the one that the issuer signed.
        case digest
        case notYetValid = "not_yet_valid"
        case expired
        case revoked
        case suspended
        /// The issuer's list of revoked credentials is missing, invalid, or has no answer for this credential.
        case statusUnknown = "status_unknown"
        /// Nothing proves that the holder's device presented the credential.
        case unbound
        /// The signature of the holder's device does not verify for this request.
        case deviceSignature = "device_signature"
        /// The proof of the holder's device was made for another request, or is old.
        case replayed
        /// The last day of validity that is printed on the document has passed.
        case documentExpired = "document_expired"
    }
}

/// One condition on a credential. A verifier stops at the first failure. A report lists all of them.
package struct PresentationRule<Input: Sendable>: Sendable {
    /// A few words for a report, such as `issuer's signature`.
    let name: String
    /// Returns a defect, or `nil`. A rule whose input is missing passes: an earlier rule has reported that.
    let defect: @Sendable (Input) -> PresentationDefect?

    package init(_ name: String, defect: @escaping @Sendable (Input) -> PresentationDefect?) {
        self.name = name
        self.defect = defect
    }
}

package extension Collection {
    /// Applies rules in order.
    ///
    /// - Throws: the first defect.
    func require<Input>(_ input: Input) throws(PresentationDefect) where Element == PresentationRule<Input> {
        for rule in self {
            if let defect = rule.defect(input) { throw defect }
        }
    }

    /// Applies all rules, whether or not they pass. The defect is `nil` for a rule that passes.
    func results<Input>(_ input: Input) -> [(rule: String, defect: PresentationDefect?)]
    where Element == PresentationRule<Input> {
        map { ($0.name, $0.defect(input)) }
    }
}
