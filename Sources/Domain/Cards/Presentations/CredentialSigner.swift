import Encoding
import Foundation

/// The signer of a credential: what a certificate says that a trusted issuer signed for this use.
package struct CredentialSigner: Sendable, Equatable {
    package let key: PublicKey
    /// The two letters of the country in the certificate's subject.
    package let country: String?
    /// The state or province in the certificate's subject.
    package let jurisdiction: String?
    package let notBefore: Date
    package let notAfter: Date
    /// SHA-256 of the trusted certificate in DER.
    package let root: [UInt8]

    package init(
        key: PublicKey, country: String?, jurisdiction: String?, notBefore: Date, notAfter: Date, root: [UInt8]
    ) {
        self.key = key
        self.country = country
        self.jurisdiction = jurisdiction
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.root = root
    }
}

/// A credential's place in its issuer's status list.
package struct StatusReference: Sendable, Equatable, Hashable {
    package let uri: String
    package let index: Int

    package init(uri: String, index: Int) {
        self.uri = uri
        self.index = index
    }
}

/// What a credential says about its status.
package enum StatusClaim: Sendable, Equatable {
    /// Its issuer keeps no list, or none that is public.
    case none
    /// It names a kind of list that is not supported, or its form is wrong.
    case unreadable
    case list(StatusReference)
}

/// The status of a credential in its issuer's list.
package enum CredentialStatus: Sendable, Equatable {
    case valid, revoked, suspended
    /// The list has no answer, with the reason as a sentence.
    case unknown(String)
}

/// How much the status of a credential matters.
package enum StatusRequirement: String, Sendable, CaseIterable {
    /// A credential without a status is refused.
    case required
    /// A credential may have no status.
    case ifPresent = "if_present"
    /// The status is not looked at.
    case off
}

/// Finds the status of credentials.
package struct StatusCheck: Sendable {
    let requirement: StatusRequirement
    /// The status by a list that the same root answers for.
    let status: @Sendable (StatusReference, CredentialSigner) -> CredentialStatus

    package init(
        _ requirement: StatusRequirement,
        status: @escaping @Sendable (StatusReference, CredentialSigner) -> CredentialStatus
    ) {
        self.requirement = requirement
        self.status = status
    }
}

package extension StatusCheck {
    /// Looks a credential's status up. Its issuer must be trusted already: no one else chooses a list.
    func defect(of claim: StatusClaim, by signer: CredentialSigner) -> PresentationDefect? {
        guard requirement != .off else { return nil }
        switch claim {
        case .none:
            guard requirement == .required else { return nil }
            return PresentationDefect(
                .statusUnknown, "The credential names no status list, and the policy requires one.")
        case .unreadable:
            return PresentationDefect(.statusUnknown, "The credential's status is not a reference to a status list.")
        case .list(let reference):
            switch status(reference, signer) {
            case .valid: return nil
            case .revoked: return PresentationDefect(.revoked, "The issuer has revoked the credential.")
            case .suspended: return PresentationDefect(.suspended, "The issuer has suspended the credential.")
            case .unknown(let detail): return PresentationDefect(.statusUnknown, detail)
            }
        }
    }
}
