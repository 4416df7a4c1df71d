import Encoding

/// A subject of security events as a request names it (RFC 9493 §3).
package enum SubjectIdentifier: Sendable, Equatable {
    /// A user of an issuer (`iss_sub`).
    case user(issuer: String, subject: String)
    /// An address by which a provider may name its user (`email`).
    case email(String)
    /// A well-formed subject in a format that does not identify a user of this service.
    case other

    /// `nil` if the format is unknown, a member is missing or empty, or there is a member that the format does not
    /// have.
    package init?(_ value: JSONValue?) {
        guard let value, let format = value["format"]?.text, case .object(let members) = value else { return nil }
        let names = Set(members.map(\.name)).subtracting(["format"])
        switch format {
        case "complex":
            guard let parts = Self.parts(of: members, among: names) else { return nil }
            // A subject with a device or session is narrower than the user.
            guard parts.count == 1, let user = value["user"].flatMap(Self.init) else {
                self = .other
                return
            }
            self = user
        case "aliases":
            guard names == ["identifiers"], case .array(let values)? = value["identifiers"], !values.isEmpty else {
                return nil
            }
            let parts = values.compactMap { $0["format"]?.text == "aliases" ? nil : Self($0) }
            guard parts.count == values.count else { return nil }
            self = parts.first { $0 != .other } ?? .other
        case "ip-addresses":
            guard names == ["ip-addresses"], case .array(let values)? = value["ip-addresses"], !values.isEmpty,
                values.allSatisfy(Self.isFilled)
            else { return nil }
            self = .other
        default:
            guard let needed = Self.members[format], names == needed,
                names.allSatisfy({ value[$0].map(Self.isFilled) ?? false })
            else { return nil }
            self.init(format, value)
        }
    }

    /// Whether it is a text that is not empty and that the store can search for.
    private static func isFilled(_ value: JSONValue) -> Bool {
        guard let text = value.text else { return false }
        return (1...1024).contains(text.utf8.count) && !text.utf8.contains(0) && text.isStreamSafe
    }

    private init(_ format: String, _ value: JSONValue) {
        switch (format, value["iss"]?.text, value["sub"]?.text, value["email"]?.text) {
        case ("iss_sub", let issuer?, let subject?, _): self = .user(issuer: issuer, subject: subject)
        case ("email", _, _, let address?): self = .email(address)
        default: self = .other
        }
    }

    /// The members of each simple format. All of them are texts.
    private static let members: [String: Set<String>] = [
        "account": ["uri"], "did": ["url"], "email": ["email"], "iss_sub": ["iss", "sub"], "jwt_id": ["iss", "jti"],
        "opaque": ["id"], "phone_number": ["phone_number"], "saml_assertion_id": ["issuer", "assertion_id"],
        "uri": ["uri"],
    ]

    /// The members that a complex subject can have (SSF 1.0 §3.2).
    private static let roles: Set<String> = [
        "user", "device", "session", "application", "tenant", "org_unit", "group",
    ]

    private static func parts(of members: [JSONMember], among names: Set<String>) -> [SubjectIdentifier]? {
        guard !names.isEmpty, names.isSubset(of: roles) else { return nil }
        let parts = members.filter { $0.name != "format" }
        let read = parts.compactMap { part -> SubjectIdentifier? in
            part.value["format"]?.text == "complex" ? nil : Self(part.value)
        }
        return read.count == parts.count ? read : nil
    }
}
