import Encoding

/// The OpenID provider behind a provider: its ID tokens are what users sign in by (OpenID Connect Core 1.0 §2).
package struct ProviderIssuer: Sendable, Equatable {
    /// Its issuer identifier, which its ID tokens repeat byte for byte (`iss`).
    package let url: String
    /// The client id that it gave to this service (`aud`). One pair of issuer and audience belongs to one provider.
    package let audience: String
    /// Further client ids of the same users, such as those of the web site beside the app.
    package var otherAudiences: [String]
    /// The clients that may have requested an ID token for one audience (`azp`); any client if empty.
    package var parties: [String]
    /// The algorithms that its keys may be used with, the preferred first (RFC 7518 §3.1).
    package let algorithms: [String]
    /// Whether a key that leaves its key set ends the sessions that it opened.
    package let endsSessionsOfRemovedKeys: Bool

    /// What follows the issuer in the URL of its discovery document (OpenID Connect Discovery 1.0 §4).
    package static let discoveryPath = "/.well-known/openid-configuration"

    /// The most audiences, and the most parties.
    package static let mostClients = 16

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

    /// Takes what an operator typed.
    ///
    /// - Parameters:
    ///   - audiences: at least one; the first names the provider in lists.
    ///   - allowingLoopback: also permits this machine, for development and tests.
    /// - Throws: ``Refusal`` `malformed_request`.
    package init(
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

    /// The client ids of which `aud` must name one, the registered ones in their order.
    package var audiences: [String] { [audience] + otherAudiences }

    /// The host of the issuer, by which a provider without a name is called.
    package var host: String { WebAddress(url)?.name ?? url }
}
