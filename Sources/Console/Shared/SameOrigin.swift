import HTTPTypes

/// Whether a request comes from a page of the console, or from an administrator who typed its address.
///
/// A browser sends a client certificate with every request. Another site could so cause an action in the administrator's
/// name, or an entry in the audit log that the administrator read a person's data. A browser sets `Sec-Fetch-Site`
/// itself, and no script can (W3C Fetch Metadata). A request without it is refused.
struct SameOrigin: Sendable {
    /// The scheme, host and port of the console, as a browser writes them in `Origin`.
    let origin: String
}

extension SameOrigin {
    /// Whether the request may read a page: it comes from the console, or from no page.
    func permitsReading(_ fields: HTTPFields) -> Bool {
        Self.has(Self.site, "same-origin", in: fields) || Self.has(Self.site, "none", in: fields)
    }

    /// Whether the request may change something: it comes from a page of the console and is a form.
    func permitsAction(_ fields: HTTPFields) -> Bool {
        Self.has(Self.site, "same-origin", in: fields) && Self.has(.origin, origin, in: fields)
            && Self.has(.contentType, "application/x-www-form-urlencoded", in: fields)
    }

    private static let site = HTTPField.Name("Sec-Fetch-Site")

    /// Whether a field is there once, with exactly this value.
    private static func has(_ name: HTTPField.Name?, _ value: String, in fields: HTTPFields) -> Bool {
        guard let name else { return false }
        let values = fields[values: name]
        return values.count == 1 && values.allSatisfy { $0.utf8.elementsEqual(value.utf8) }
    }
}
