import ArgumentParser

/// A key that `keys rotate` replaces while the service runs.
enum RotatedKey: String, CaseIterable, ExpressibleByArgument {
    case wrapping
    case phoneCode = "phone-code"
    case blindIndex = "blind-index"
    case nonce
    case service
    case accessToken = "access-token"
    case server
    /// The internal authority, which certifies devices.
    case authority = "ca"
    /// The authority of administrators' certificates.
    case administratorAuthority = "admin-ca"
    /// The key of requests to wallets.
    case wallet
    case webhook
}

extension KeyFiles.Name {
    /// The rotation that replaces the file. A file without a rotation cannot be declared.
    var rotation: RotatedKey {
        switch self {
        case .authorityURI, .authorityKey, .authorityCertificate, .nextAuthorityURI, .nextAuthorityKey,
            .nextAuthorityCertificate, .formerAuthorityURI, .formerAuthorityKey, .formerAuthorityCertificate:
            .authority
        case .serverKey, .serverCertificate, .nextServerKey: .server
        case .nonceSecret: .nonce
        case .phoneCodeSecrets: .phoneCode
        case .wrappingSecrets: .wrapping
        case .blindIndexSecrets: .blindIndex
        case .serviceKey, .nextServiceKey, .otherServiceKeys, .retiredServiceKeys: .service
        case .accessTokenKey, .nextAccessTokenKey, .otherAccessTokenKeys: .accessToken
        case .webhookSecret: .webhook
        case .adminAuthorityKey, .adminAuthorityCertificate, .nextAdminAuthorityKey, .nextAdminAuthorityCertificate,
            .formerAdminAuthorityCertificate:
            .administratorAuthority
        case .walletKey, .walletCertificate, .nextWalletKey, .nextWalletCertificate: .wallet
        }
    }
}

/// A step of a rotation.
enum RotationStep: String, CaseIterable {
    /// The new key is made, and accepted by each node that reads it.
    case stage
    /// The new key is used.
    case use
    /// The former key is removed.
    case prune
}

/// What a step changed, and what the operator does next.
struct RotationOutcome: Equatable {
    /// The files that changed; empty if the step was done before.
    var changed: [String] = []
    /// A sentence for each thing to do.
    var next: [String] = []
}
