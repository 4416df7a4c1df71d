import Foundation

/// A backend that vouches for users: it signs identity tokens with keys that it registered.
public struct Provider: Sendable, Equatable {
    /// The `iss` of its tokens.
    public let id: ProviderID
    /// The readable half of its users' addresses.
    public let slug: Slug
    /// What people call it.
    public let name: String
    /// The developer who owns it; one account may own several.
    public let account: String?
    /// The hosts on which its users' pictures may lie.
    public let avatarHosts: [String]
    /// When it was registered.
    public let createdAt: Date
    /// Since when it is disabled, if it is.
    public var disabledAt: Date?

    /// Joins the parts.
    public init(
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
    public func address(of externalID: String) -> String {
        "\(slug.text)/\(externalID)"
    }
}

/// A provider's short name: lower-case letters, digits and inner hyphens, 1 to 40 characters.
public struct Slug: Hashable, Sendable {
    /// The text.
    public let text: String

    /// Reads a slug; `nil` for what is none.
    public init?(_ text: String) {
        let allowed = text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
        guard (1...40).contains(text.utf8.count), allowed, !text.hasPrefix("-"), !text.hasSuffix("-") else {
            return nil
        }
        self.text = text
    }

    /// Derives a slug from a name: what is no letter or digit becomes a hyphen. `nil` where nothing is left.
    public init?(from name: String) {
        let parts = name.lowercased().split { !$0.isASCII || !($0.isLetter || $0.isNumber) }
        self.init(String(parts.joined(separator: "-").prefix(40)))
    }
}

/// A provider's public key as registered.
public struct ProviderKeyRecord: Sendable, Equatable {
    /// The `kid` of its tokens.
    public let id: ProviderKeyID
    /// Whose it is.
    public let providerID: ProviderID
    /// The algorithm that its tokens must name (RFC 7518 §3.1, RFC 8037).
    public let algorithm: String
    /// The key, DER SubjectPublicKeyInfo.
    public let subjectPublicKeyInfo: [UInt8]
    /// Who added it: a key added over HTTP cannot delete one that an admin added.
    public let origin: Origin
    /// The key that signed for its adding; `nil` for one that an admin added, or of before this was written down.
    public let addedBy: ProviderKeyID?
    /// When it was added.
    public let createdAt: Date
    /// Since when it signs nothing new, if so; sessions that it opened go on.
    public var retiredAt: Date?
    /// Since when it counts for nothing, if so.
    public var revokedAt: Date?

    /// Who added a key.
    public enum Origin: String, Sendable {
        case admin
        case provider
    }

    /// Joins the parts.
    public init(
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
    public func descendants(of id: ProviderKeyID) -> [ProviderKeyRecord] {
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
public struct Application: Sendable, Equatable {
    /// The `app_id` of a session request.
    public let id: ApplicationID
    /// Whose it is.
    public let providerID: ProviderID
    /// What people call it.
    public let name: String

    /// Joins the parts.
    public init(id: ApplicationID, providerID: ProviderID, name: String) {
        self.id = id
        self.providerID = providerID
        self.name = name
    }
}
