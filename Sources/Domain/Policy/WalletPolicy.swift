import Foundation

/// What wallets may present: `Policies/wallet.yaml`.
package struct WalletPolicy: Sendable, Equatable {
    /// Whether presentations can be begun. They need a certificate of the service for wallets, and trusted issuers.
    package var enabled = false
    /// From the beginning of a presentation to the answer of the wallet.
    package var lifetime: TimeInterval = 300
    /// The ways to a wallet that apps may choose.
    package var channels = Presentation.Channel.allCases
    /// How requests name the service. It is read with the certificate.
    package var clientID = WalletReader.NameKind.certificateHash
    /// The formats of credentials that are asked for.
    package var formats = RequestedCredential.Format.allCases
    /// How much the status of a credential matters.
    package var status = StatusRequirement.ifPresent
    /// What happens if the status is unknown.
    package var statusUnknown = UnknownStatus.refuse
    /// How many ages one credential may prove in a week, for whichever users; 0 for any number.
    package var ageProofsPerCredential = 0
    /// Presentations that one user may begin in an hour.
    package var openingsPerHour = 10
    /// The URL of the list of issuers (VICAL); empty for none.
    package var vicalURL = ""
    /// For how long a list is used after its provider should have made another.
    package var trustGrace: TimeInterval = 7 * 86_400

    init() {}
}

package extension WalletPolicy {
    /// What happens to an identity whose status is unknown. An age is always refused: no reviewer looks at it.
    enum UnknownStatus: String, Sendable, CaseIterable {
        case refuse, review
    }

    /// The period of `ageProofsPerCredential`, seconds.
    static let ageProofPeriod: TimeInterval = 604_800
}
