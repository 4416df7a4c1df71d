import Foundation

/// A backend that vouches for users: it signs identity tokens with keys that it registered.
package struct Provider: Sendable, Equatable {
    /// The `iss` of its tokens.
    package let id: ProviderID
    /// The readable half of its users' addresses.
    package let slug: Slug
    package let name: String
    /// The developer who owns it; one account may own several.
    package let account: String?
    /// The hosts on which its users' pictures may lie.
    package let avatarHosts: [String]
    package let createdAt: Date
    /// Since when it is disabled, if it is.
    package var disabledAt: Date?

    package init(
        id: ProviderID, slug: Slug, name: String, account: String?, avatarHosts: [String], createdAt: Date,
        disabledAt: Date?
    ) {
        self.id = id
        self.slug = slug
        self.name = name
        self.account = account
        self.avatarHosts = avatarHosts
        self.createdAt = createdAt
        self.disabledAt = disabledAt
    }

    /// The name by which others and the command line may call one of its users: `<slug>/<external id>`.
    package func address(of externalID: String) -> String {
        "\(slug.text)/\(externalID)"
    }
}

/// A provider's short name: lower-case letters, digits and inner hyphens, 1 to 40 characters.
package struct Slug: Hashable, Sendable {
    package let text: String

    /// Reads a slug; `nil` for what is none.
    package init?(_ text: String) {
        let allowed = text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
        guard (1...40).contains(text.utf8.count), allowed, !text.hasPrefix("-"), !text.hasSuffix("-") else {
            return nil
        }
        self.text = text
    }

    /// Derives a slug from a name: what is no letter or digit becomes a hyphen. `nil` if nothing is left.
    package init?(from name: String) {
        let parts = name.lowercased().split { !$0.isASCII || !($0.isLetter || $0.isNumber) }
        self.init(String(parts.joined(separator: "-").prefix(40)))
    }
}

/// A provider's public key as registered.
package struct ProviderKeyRecord: Sendable, Equatable {
    /// The `kid` of its tokens.
    package let id: ProviderKeyID
    package let providerID: ProviderID
    /// The algorithm that its tokens must name (RFC 7518 §3.1, RFC 8037).
    package let algorithm: String
    /// The key, DER SubjectPublicKeyInfo.
    package let subjectPublicKeyInfo: [UInt8]
    /// Who added it: a key added over HTTP cannot delete one that an admin added.
    package let origin: Origin
    /// The key that signed for its adding; `nil` for one that an admin added, or of before this was written down.
    package let addedBy: ProviderKeyID?
    package let createdAt: Date
    /// Since when it signs nothing new, if so; sessions that it opened go on.
    package var retiredAt: Date?
    /// Since when it counts for nothing, if so.
    package var revokedAt: Date?

    package enum Origin: String, Sendable {
        case admin
        case provider
    }

    package init(
        id: ProviderKeyID, providerID: ProviderID, algorithm: String, subjectPublicKeyInfo: [UInt8], origin: Origin,
        addedBy: ProviderKeyID? = nil, createdAt: Date, retiredAt: Date?, revokedAt: Date?
    ) {
        self.id = id
        self.providerID = providerID
        self.algorithm = algorithm
        self.subjectPublicKeyInfo = subjectPublicKeyInfo
        self.origin = origin
        self.addedBy = addedBy
        self.createdAt = createdAt
        self.retiredAt = retiredAt
        self.revokedAt = revokedAt
    }
}

extension [ProviderKeyRecord] {
    /// The keys that a key added, and those that these added, and so on; in this order, without the key itself.
    package func descendants(of id: ProviderKeyID) -> [ProviderKeyRecord] {
        let byAdder = Dictionary(grouping: self) { $0.addedBy }
        var found: [ProviderKeyRecord] = []
        var seen: Set<ProviderKeyID> = [id]
        var frontier = [id]
        while !frontier.isEmpty {
            let next = frontier.flatMap { byAdder[$0] ?? [] }.filter { seen.insert($0.id).inserted }
            found += next
            frontier = next.map(\.id)
        }
        return found
    }
}

/// An app of a provider.
package struct Application: Sendable, Equatable {
    /// The `app_id` of a session request.
    package let id: ApplicationID
    package let providerID: ProviderID
    package let name: String

    package init(id: ApplicationID, providerID: ProviderID, name: String) {
        self.id = id
        self.providerID = providerID
        self.name = name
    }
}
