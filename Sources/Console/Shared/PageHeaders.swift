import HTTPTypes

/// The header fields of every response of the console.
enum PageHeaders {
    /// The page loads its style sheet only, sends forms to this service only, is framed by nobody and is stored
    /// nowhere.
    static let fields: HTTPFields = {
        var fields = HTTPFields()
        fields[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        fields[.xContentTypeOptions] = "nosniff"
        fields[.cacheControl] = "no-store"
        for (name, value) in others { fields[name] = value }
        return fields
    }()

    private static let others: [(HTTPField.Name, String)] = [
        // With `no-referrer` a browser sends `Origin: null` with the page's own forms (W3C Fetch, "append a request
        // Origin header"). No other host gets an address of a page either way.
        ("Referrer-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
    ].compactMap { name, value in HTTPField.Name(name).map { ($0, value) } }
}
