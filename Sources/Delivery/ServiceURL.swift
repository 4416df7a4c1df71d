import Foundation

/// Where a carrier's service is (RFC 3986): `https`, or `http` on this machine, which is for development and tests.
///
/// No user, no fragment, ASCII only: what is signed is what is sent.
public struct ServiceURL: Sendable, Equatable, CustomStringConvertible {
    /// The whole, as given.
    public let description: String
    /// The value of the `Host` field (RFC 9110 §7.2): the port only where it is not the scheme's own.
    let host: String
    /// The host without the port; an IPv6 address in brackets.
    let name: String
    /// Whether it is `http`, which no one but this machine is spoken to by.
    public let isPlain: Bool
    /// Starts with `/`, percent-encoded as on the wire.
    let path: String
    /// What follows `?`, as on the wire; empty where there is none.
    let query: String

    /// Longer ones are not read, bytes.
    static let maximumLength = 1024

    /// Reads a URL; `nil` where the service may not be asked there.
    public init?(_ text: String) {
        let foreign = Set("\"<>\\^`{|}#".utf8)
        guard text.utf8.count <= Self.maximumLength,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !foreign.contains($0) })
        else { return nil }
        let isSecure = text.hasPrefix("https://")
        guard isSecure || text.hasPrefix("http://") else { return nil }
        let rest = text.dropFirst(isSecure ? 8 : 7)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard let (name, port) = Self.split(authority), isSecure || Self.isLoopback(name) else { return nil }
        self.name = name.lowercased()
        isPlain = !isSecure
        host = name.lowercased() + (port == nil || port == (isSecure ? 443 : 80) ? "" : ":\(port ?? 0)")
        let target = rest[authority.endIndex...]
        let path = target.prefix { $0 != "?" }
        self.path = path.isEmpty ? "/" : String(path)
        query = String(target[path.endIndex...].dropFirst())
        description = text
    }

    /// The URL with a longer path.
    func appending(_ suffix: String) -> ServiceURL? {
        guard query.isEmpty else { return nil }
        return ServiceURL((description.hasSuffix("/") ? String(description.dropLast()) : description) + suffix)
    }

    /// Host and port (RFC 3986 §3.2.2 and §3.2.3); `nil` where there is a user or something else that is foreign.
    private static func split(_ authority: Substring) -> (name: Substring, port: Int?)? {
        let name: Substring
        if authority.first == "[" {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            name = authority[...end]
            guard name.count > 2, name.dropFirst().dropLast().allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." })
            else { return nil }
        } else {
            name = authority.prefix { $0 != ":" }
            guard !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" || $0 == "." }) else {
                return nil
            }
        }
        let port = authority[name.endIndex...]
        guard !port.isEmpty else { return (name, nil) }
        guard port.first == ":", port.dropFirst().allSatisfy(\.isNumber), let number = Int(port.dropFirst()),
            (1...65_535).contains(number)
        else { return nil }
        return (name, number)
    }

    /// Names of this machine (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3, RFC 6761 §6.3).
    private static func isLoopback(_ name: Substring) -> Bool {
        if name.lowercased() == "localhost" || name == "[::1]" { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
