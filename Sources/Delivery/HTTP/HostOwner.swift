import Domain
import Encoding

/// The party that names a host. Look-ups are limited for each, so no party may be several owners: an issuer of
/// credentials chooses its hosts, but not the root that the operator trusts.
package enum HostOwner: Sendable, Hashable {
    case provider(ProviderID)
    /// An OpenID provider, by its URL.
    case issuer(String)
    /// All issuers of credentials below a trusted root, by the digest of its certificate.
    case credentialRoot(Digest256)
    /// The published list of issuers, whose URL the operator configured.
    case issuerList
    /// The list of revoked attestations.
    case attestationList
}

extension HostOwner {
    /// What an owner is. A test requires a row for each in the document on capacity.
    enum Kind: String, CaseIterable {
        case provider
        case issuer
        case credentialRoot = "credential_root"
        case issuerList = "issuer_list"
        case attestationList = "attestation_list"
    }

    /// The largest number of its look-ups under way.
    var lookUpsAtOnce: Int { kind == .credentialRoot ? HostResolver.atOnceForRoot : HostResolver.atOnceForOwner }

    var kind: Kind {
        switch self {
        case .provider: .provider
        case .issuer: .issuer
        case .credentialRoot: .credentialRoot
        case .issuerList: .issuerList
        case .attestationList: .attestationList
        }
    }
}
