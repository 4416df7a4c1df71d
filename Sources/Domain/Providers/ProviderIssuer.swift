import Encoding

/// The OpenID provider behind a provider: its ID tokens are what users sign in by (OpenID Connect Core 1.0 §2).
package struct ProviderIssuer: Sendable, Equatable {
    /// Its issuer identifier, which its ID tokens repeat byte for byte (`iss`).
    package let url: String
    /// The client id that it gave to this service (`aud`). One pair of issuer and audience belongs to one provider.
    package let audience: String
    /// The algorithms that its keys may be used with, the preferred first (RFC 7518 §3.1).
    package let algorithms: [String]
    /// Whether a key that leaves its key set ends the sessions that it opened.
    package let endsSessionsOfRemovedKeys: Bool

    package init(url: String, audience: String, algorithms: [String], endsSessionsOfRemovedKeys: Bool = false) {
        self.url = url
        self.audience = audience
        self.algorithms = algorithms
        self.endsSessionsOfRemovedKeys = endsSessionsOfRemovedKeys
    }

    /// Takes what an operator typed.
    ///
    /// - Parameter allowingLoopback: also permits this machine, for development and tests.
    /// - Throws: ``Refusal`` `malformed_request`.
    package init(
        typed url: String, audience: String, algorithms: [String], endsSessionsOfRemovedKeys: Bool,
        allowingLoopback: Bool
    ) throws(Refusal) {
        guard PublicURL(url, allowingLoopback: allowingLoopback) != nil, !url.utf8.contains(UInt8(ascii: "?")) else {
            throw Refusal(
                .malformedRequest,
                "An issuer is an https URL of a public host, without a query and a fragment, as its ID tokens name it.")
        }
        try PlainText.require(audience, "An audience", bytes: 1...256, for: .identifier)
        self.init(
            url: url, audience: audience, algorithms: algorithms,
            endsSessionsOfRemovedKeys: endsSessionsOfRemovedKeys)
    }

    /// The host of the issuer, by which a provider without a name is called.
    package var host: String { WebAddress(url)?.name ?? url }
}
