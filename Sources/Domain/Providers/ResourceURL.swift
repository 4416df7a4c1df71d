import Encoding

/// A URL that an operator registered for a provider's backend (RFC 8707 §2). A device may name the provider by it.
package struct ResourceURL: Sendable, Equatable {
    /// As the operator wrote it, and as the backend compares it with `aud`.
    package let text: String
    /// The one form of all texts of the same URL.
    package let canonical: String

    /// Parses an https URL, or http of this machine, without a query, a fragment and a user; `nil` for anything else.
    package init?(_ text: String) {
        guard let url = ServiceURL(text), url.query.isEmpty, !text.utf8.contains(UInt8(ascii: "?")) else { return nil }
        self.text = text
        canonical = url.description
    }

    /// Whether it is a URL of the service with this one, or below it. The scheme makes no difference.
    package func isWithin(_ base: String) -> Bool {
        guard let base = ServiceURL(base) else { return false }
        let place = Self.place(base.description)
        return "\(Self.place(canonical))/".hasPrefix(place.hasSuffix("/") ? String(place) : "\(place)/")
    }

    /// Host and path.
    private static func place(_ url: String) -> Substring { url.drop { $0 != ":" } }
}

/// A registered URL. It belongs to one provider.
package struct ProviderResource: Sendable, Equatable {
    package let url: ResourceURL
    package let providerID: ProviderID

    package init(url: ResourceURL, providerID: ProviderID) {
        self.url = url
        self.providerID = providerID
    }
}
