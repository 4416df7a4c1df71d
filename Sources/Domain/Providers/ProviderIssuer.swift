import Encoding

/// The OpenID provider whose ID tokens identify a provider's users (OpenID Connect Core 1.0 §2).
package struct ProviderIssuer: Sendable, Equatable {
    /// Its issuer identifier, which its ID tokens repeat byte for byte (`iss`).
    package let url: String
    /// The client id that the issuer gave to this service (`aud`). A pair of issuer and audience belongs to one
    /// provider.
    package let audience: String
    /// Further client ids that users of this provider sign in with, such as that of the web site.
    package var otherAudiences: [String]
    /// The clients that may have requested an ID token for one audience (`azp`); any client if empty.
    package var parties: [String]
    /// The algorithms that its keys may be used with, the preferred first (RFC 7518 §3.1).
    package let algorithms: [String]
    /// Whether sessions end when the key that opened them leaves the key set.
    package let endsSessionsOfRemovedKeys: Bool

    package init(
        url: String, audience: String, otherAudiences: [String] = [], parties: [String] = [], algorithms: [String],
        endsSessionsOfRemovedKeys: Bool = false
    ) {
        self.url = url
        self.audience = audience
        self.otherAudiences = otherAudiences
        self.parties = parties
        self.algorithms = algorithms
        self.endsSessionsOfRemovedKeys = endsSessionsOfRemovedKeys
    }

    static func clients(_ texts: [String], _ subject: Refusal.Subject) throws(Refusal) -> [String] {
        guard texts.count <= mostClients else {
            throw Refusal.tooManyIssuerClients(subject, allowed: mostClients)
        }
        var different: [String] = []
        for text in texts {
            try PlainText.require(text, about: subject, bytes: 1...256, for: .identifier)
            if !different.contains(where: { $0.hasSameBytes(as: text) }) { different.append(text) }
        }
        return different
    }
}

package extension ProviderIssuer {
    /// The path of the discovery document, which follows the issuer in its URL (OpenID Connect Discovery 1.0 §4).
    static let discoveryPath = "/.well-known/openid-configuration"

    /// The largest number of audiences, and of parties.
    static let mostClients = 16

    /// Validates an operator's input.
    ///
    /// - Parameters:
    ///   - audiences: at least one; the first is the provider's name in lists.
    ///   - allowingLoopback: also permits this machine, for development and tests.
    /// - Throws: ``Refusal`` `malformed_request`.
    init(
        typed url: String, audiences: [String], parties: [String] = [], algorithms: [String],
        endsSessionsOfRemovedKeys: Bool, allowingLoopback: Bool
    ) throws(Refusal) {
        guard PublicURL(url, allowingLoopback: allowingLoopback) != nil, !url.utf8.contains(UInt8(ascii: "?")) else {
            throw Refusal.unreadableIssuer
        }
        guard !url.hasSuffix(Self.discoveryPath) else {
            throw Refusal.discoveryURLAsIssuer
        }
        let (audiences, parties) = (try Self.clients(audiences, .audience), try Self.clients(parties, .party))
        guard let first = audiences.first else {
            throw Refusal.issuerWithoutAudience
        }
        self.init(
            url: url, audience: first, otherAudiences: Array(audiences.dropFirst()), parties: parties,
            algorithms: algorithms, endsSessionsOfRemovedKeys: endsSessionsOfRemovedKeys)
    }

    /// The client ids that `aud` may contain, in the order of registration.
    var audiences: [String] { [audience] + otherAudiences }

    /// The host of the issuer, which is the default name of the provider.
    var host: String { WebAddress(url)?.name ?? url }
}
