import Encoding

/// A URL that an operator registered for a provider's backend (RFC 8707 §2). Devices can name the provider by it.
package struct ResourceURL: Sendable, Equatable {
    /// The URL as the operator wrote it. The backend compares it with `aud`.
    package let text: String
    /// The normalised form. It is equal for all spellings of a URL.
    package let canonical: String

    /// Parses an https URL without query, fragment and user, or an http URL of this machine; `nil` for anything else.
    package init?(_ text: String) {
        guard let url = ServiceURL(text), url.query.isEmpty, !text.utf8.contains(UInt8(ascii: "?")) else { return nil }
        self.text = text
        canonical = url.description
    }

    /// Whether it is this URL of the service, or a path below it. The scheme is not compared.
    package func isWithin(_ base: String) -> Bool {
        guard let base = ServiceURL(base) else { return false }
        let place = Self.place(base.description)
        return "\(Self.place(canonical))/".hasPrefix(place.hasSuffix("/") ? String(place) : "\(place)/")
    }

    /// Everything after the scheme: `://`, host and path.
    private static func place(_ url: String) -> Substring { url.drop { $0 != ":" } }
}

/// A registered URL and its provider. A URL belongs to one provider only.
package struct ProviderResource: Sendable, Equatable {
    package let url: ResourceURL
    package let providerID: ProviderID

    package init(url: ResourceURL, providerID: ProviderID) {
        self.url = url
        self.providerID = providerID
    }
}
