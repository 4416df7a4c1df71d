import Foundation

/// A backend that vouches for users: it signs identity tokens with its registered keys.
package struct Provider: Sendable, Equatable {
    /// The `iss` of its tokens.
    package let id: ProviderID
    /// The readable part of its users' addresses.
    package let slug: Slug
    package let name: String
    /// The developer who owns it; one account may own several.
    package let account: String?
    /// Hosts that may serve its users' pictures.
    package let avatarHosts: [String]
    package let createdAt: Date
    /// When it was disabled; `nil` if it is enabled.
    package var disabledAt: Date?
    /// The algorithm that signs its sessions' access tokens for its backend.
    package var tokenAlgorithm: AccessTokenAlgorithm
    /// The OpenID provider whose ID tokens identify its users; `nil` if its own identity tokens do.
    package var issuer: ProviderIssuer?

    package init(
        id: ProviderID, slug: Slug, name: String, account: String?, avatarHosts: [String], createdAt: Date,
        disabledAt: Date?, tokenAlgorithm: AccessTokenAlgorithm = .rs256, issuer: ProviderIssuer? = nil
    ) {
        self.id = id
        self.slug = slug
        self.name = name
        self.account = account
        self.avatarHosts = avatarHosts
        self.createdAt = createdAt
        self.disabledAt = disabledAt
        self.tokenAlgorithm = tokenAlgorithm
        self.issuer = issuer
    }

    /// A user's address in the API and on the command line: `<slug>/<external id>`.
    package func address(of externalID: String) -> String {
        "\(slug.text)/\(externalID)"
    }
}

/// The algorithms of access tokens (RFC 7518 §3.1). RFC 9068 §2.1 requires every verifier to support the first.
package enum AccessTokenAlgorithm: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case es256 = "ES256"
}

/// A provider's short name: lower-case letters, digits and inner hyphens, 1 to 40 characters.
package struct Slug: Hashable, Sendable {
    package let text: String

    /// Parses a slug; `nil` for anything else.
    package init?(_ text: String) {
        let allowed = text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
        guard (1...40).contains(text.utf8.count), allowed, !text.hasPrefix("-"), !text.hasSuffix("-") else {
            return nil
        }
        self.text = text
    }

    /// Derives a slug from a name: accents are left out, Latin letters that are not decomposed are spelled in ASCII, and
    /// characters other than Latin letters and digits become hyphens. `nil` if nothing is left.
    package init?(from name: String) {
        let bases = name.decomposedStringWithCompatibilityMapping.lowercased().unicodeScalars.filter {
            $0.properties.generalCategory != .nonspacingMark
        }.flatMap { Array((Self.spellings[$0] ?? String($0)).unicodeScalars) }
        let parts = bases.split { !$0.isASCII || !$0.properties.isAlphabetic && $0.properties.numericType == nil }
        let slug = parts.map { String(String.UnicodeScalarView($0)) }.joined(separator: "-").prefix(40)
        self.init(String(slug.hasSuffix("-") ? slug.dropLast() : slug))
    }

    /// Letters that Unicode does not decompose into a letter of ASCII and a mark.
    private static let spellings: [Unicode.Scalar: String] = [
        "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ß": "ss", "þ": "th", "ð": "d", "ı": "i", "ħ": "h",
        "ŧ": "t", "ŋ": "n", "ə": "e",
    ]
}

/// A provider's public key as registered.
package struct ProviderKeyRecord: Sendable, Equatable {
    /// The `kid` of its tokens.
    package let id: ProviderKeyID
    package let providerID: ProviderID
    /// The algorithm that its tokens must name (RFC 7518 §3.1, RFC 8037).
    package let algorithm: String
    package let subjectPublicKeyInfo: [UInt8]
    /// How it was registered. A key added over HTTP cannot delete one that an admin added.
    package let origin: Origin
    /// The key that signed the request to add it; `nil` if an admin added it.
    package let addedBy: ProviderKeyID?
    package let createdAt: Date
    /// When it was retired, or left the issuer's key set. It can no longer open sessions, but sessions that it opened
    /// continue. `nil` if it is active.
    package var retiredAt: Date?
    /// When it was revoked, which invalidates all its signatures; `nil` if it is not revoked.
    package var revokedAt: Date?

    package enum Origin: String, Sendable {
        case admin
        case provider
        /// It is from the key set of the provider's issuer. It verifies only ID tokens.
        case issuer
    }

    /// Its `kid` in the issuer's key set; `nil` for a key of another origin.
    package let issuerKeyID: String?

    package init(
        id: ProviderKeyID, providerID: ProviderID, algorithm: String, subjectPublicKeyInfo: [UInt8], origin: Origin,
        addedBy: ProviderKeyID? = nil, createdAt: Date, retiredAt: Date?, revokedAt: Date?, issuerKeyID: String? = nil
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
        self.issuerKeyID = issuerKeyID
    }
}

extension [ProviderKeyRecord] {
    /// All keys that a key added, directly or indirectly, nearest first. The key itself is not included.
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
