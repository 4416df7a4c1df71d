import Domain
import Encoding

/// The content of `Authorization: Layer …`: nothing, a session token, an identity token that creates a session, or an
/// export token.
///
/// By RFC 9110 §11.4 it is a scheme and parameters in any order, here with single quotes, double quotes or none. Other
/// schemes are ignored.
enum AuthorizationHeader: Sendable, Equatable {
    case none
    case session(String)
    case identity(token: String, applicationID: String?, realm: String?)
    /// The token that lets a banned user read and erase their own data.
    case export(String)

    /// The longest accepted field, bytes.
    static let maximumLength = 12 * 1024

    /// Parses the field.
    ///
    /// - Throws: `Refusal` `malformed_request` for an unknown or repeated parameter, an open quote, or two tokens.
    init(_ field: String?) throws(Refusal) {
        guard let field else {
            self = .none
            return
        }
        guard field.utf8.count <= Self.maximumLength else {
            throw Refusal.authorizationTooLong(allowed: Self.maximumLength)
        }
        if let token = Self.bearer(field) {
            self = .session(token)
            return
        }
        guard let rest = Self.rest(of: field, after: "layer") else {
            self = .none
            return
        }
        let parameters = try Self.parameters(rest)
        switch (parameters["session-token"], parameters["identity-token"], parameters["export-token"]) {
        case (let token?, nil, nil): self = .session(token)
        case (nil, let token?, nil):
            self = .identity(token: token, applicationID: parameters["app-id"], realm: parameters["realm"])
        case (nil, nil, let token?): self = .export(token)
        case (nil, nil, nil): self = .none
        default: throw Refusal.twoTokens
        }
    }

    /// The token of `Bearer …`, after one or more spaces; `nil` for anything else.
    static func bearer(_ field: String) -> String? {
        guard let token = rest(of: field, after: "bearer")?.drop(while: { $0 == UInt8(ascii: " ") }), !token.isEmpty
        else { return nil }
        return String(Substring(token))
    }

    /// What follows a scheme, which is given in lower case; `nil` if the scheme is another.
    private static func rest(of field: String, after scheme: String) -> Substring.UTF8View? {
        let named = field.utf8.prefix(scheme.utf8.count)
        let rest = field.utf8.dropFirst(scheme.utf8.count)
        guard named.elementsEqual(scheme.utf8, by: { $0 | 0x20 == $1 }), rest.first ?? 0x20 == 0x20 else { return nil }
        return rest
    }

    /// The hash of the session token in a field of a usual form, `Layer session-token="…"` or `Bearer …`; `nil` for any
    /// other form, which ``init(_:)`` parses.
    static func sessionTokenHash(inUsualForm field: String) -> Digest256? {
        var field = field
        return field.withUTF8 { field in
            let bytes = UnsafeRawBufferPointer(field)
            if let token = rest(of: bytes, after: "Bearer ") { return SessionToken.hash(ofShown: token) }
            guard let token = rest(of: bytes, after: "Layer session-token=\""), token.last == UInt8(ascii: "\"") else {
                return nil
            }
            return SessionToken.hash(ofShown: UnsafeRawBufferPointer(rebasing: token.dropLast()))
        }
    }

    /// The SHA-256 of the token in `Bearer …`; `nil` for any other form.
    static func bearerHash(inUsualForm field: String) -> Digest256? {
        var field = field
        return field.withUTF8 { field in
            guard let token = rest(of: UnsafeRawBufferPointer(field), after: "Bearer "),
                !token.contains(UInt8(ascii: " "))
            else { return nil }
            return Digest256.of(token)
        }
    }

    private static func rest(of bytes: UnsafeRawBufferPointer, after start: StaticString) -> UnsafeRawBufferPointer? {
        guard bytes.count > start.utf8CodeUnitCount,
            bytes.starts(with: UnsafeBufferPointer(start: start.utf8Start, count: start.utf8CodeUnitCount))
        else { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[start.utf8CodeUnitCount...])
    }

    private static let names: Set = ["realm", "session-token", "identity-token", "export-token", "app-id", "nonce"]

    private static func parameters(_ bytes: Substring.UTF8View) throws(Refusal) -> [String: String] {
        var found: [String: String] = [:]
        var rest = bytes
        func skip(_ fits: (UInt8) -> Bool) { rest = rest.drop(while: fits) }
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        while true {
            skip { isSpace($0) || $0 == UInt8(ascii: ",") }
            guard !rest.isEmpty else { return found }
            let name = String(Substring(rest.prefix { $0 != UInt8(ascii: "=") && !isSpace($0) })).lowercased()
            skip { $0 != UInt8(ascii: "=") && !isSpace($0) }
            skip(isSpace)
            guard rest.first == UInt8(ascii: "=") else {
                throw Refusal.authorizationUnreadable("a parameter has no value")
            }
            rest = rest.dropFirst()
            skip(isSpace)
            guard names.contains(name) else { throw Refusal.authorizationUnreadable("a parameter is unknown") }
            let value: Substring.UTF8View
            if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                rest = rest.dropFirst()
                value = rest.prefix { $0 != quote }
                rest = rest.dropFirst(value.count)
                guard rest.first == quote else { throw Refusal.authorizationUnreadable("a quote is not closed") }
                rest = rest.dropFirst()
                if let next = rest.first, !isSpace(next), next != UInt8(ascii: ",") {
                    throw Refusal.authorizationUnreadable("there is text after a quote")
                }
            } else {
                value = rest.prefix { !isSpace($0) && $0 != UInt8(ascii: ",") }
                rest = rest.dropFirst(value.count)
            }
            guard !value.isEmpty else { throw Refusal.authorizationUnreadable("a parameter is empty") }
            guard found.updateValue(String(Substring(value)), forKey: name) == nil else {
                throw Refusal.authorizationUnreadable("a parameter is repeated")
            }
        }
    }
}
