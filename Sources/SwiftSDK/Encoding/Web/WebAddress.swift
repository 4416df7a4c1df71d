import Foundation

/// The URL of an HTTP service (RFC 3986) in canonical form. The text that is checked is thus the text of the
/// connection and of the request.
///
/// The host is a name in lower case without a final dot, or an address as RFC 5952 and RFC 6943 §3.1.1 write it.
/// Other forms that some resolver takes for an address are refused. No user, no fragment, ASCII only.
public struct WebAddress: Sendable, Equatable, CustomStringConvertible {
    /// `https` if true, `http` if not.
    public let isSecure: Bool
    /// The host without the port; an IPv6 address in brackets.
    public let name: String
    /// The address; `nil` if the host is a name.
    public let literal: IPAddress?
    /// `nil` for the scheme's default port.
    let port: Int?
    /// Starts with `/`, percent-encoded as on the wire.
    public let path: String
    /// The query as on the wire, without `?`; empty if there is none.
    public let query: String

    /// Longer ones are refused, bytes.
    static let maximumLength = 1024

    public init?(_ text: String) {
        let foreign = Set("\"<>\\^`{|}#".utf8)
        guard text.utf8.count <= Self.maximumLength,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !foreign.contains($0) })
        else { return nil }
        isSecure = text.hasPrefix("https://")
        guard isSecure || text.hasPrefix("http://") else { return nil }
        let rest = text.dropFirst(isSecure ? 8 : 7)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard let (host, port) = Self.split(authority), let (name, literal) = Self.host(host) else { return nil }
        (self.name, self.literal) = (name, literal)
        self.port = port == (isSecure ? 443 : 80) ? nil : port
        let target = rest[authority.endIndex...]
        let path = target.prefix { $0 != "?" }
        self.path = path.isEmpty ? "/" : String(path)
        query = String(target[path.endIndex...].dropFirst())
    }
}

public extension WebAddress {
    /// The value of the `Host` field (RFC 9110 §7.2).
    var host: String { name + (port.map { ":\($0)" } ?? "") }

    var description: String {
        "\(isSecure ? "https" : "http")://\(host)\(path)\(query.isEmpty ? "" : "?" + query)"
    }

    /// Whether the host is this machine (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3, RFC 6761 §6.3).
    var isLoopback: Bool { literal?.isLoopback ?? (name == "localhost" || name.hasSuffix(".localhost")) }

    /// Host and port (RFC 3986 §3.2.2 and §3.2.3).
    private static func split(_ authority: Substring) -> (host: Substring, port: Int?)? {
        let host: Substring
        if authority.first == "[" {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[...end]
        } else {
            host = authority.prefix { $0 != ":" }
        }
        let port = authority[host.endIndex...]
        guard !port.isEmpty else { return (host, nil) }
        guard port.first == ":", (2...6).contains(port.utf8.count), port.dropFirst().utf8.allSatisfy(isDigit),
            let number = Int(port.dropFirst()), (1...65_535).contains(number)
        else { return nil }
        return (host, number)
    }

    private static func host(_ text: Substring) -> (name: String, literal: IPAddress?)? {
        if text.first == "[" {
            guard let address = IPAddress(ipv6: String(text.dropFirst().dropLast())) else { return nil }
            return ("[\(address)]", address)
        }
        let name = String(text.last == "." ? text.dropLast() : text).lowercased()
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...253).contains(name.utf8.count), labels.allSatisfy(isLabel), let last = labels.last else {
            return nil
        }
        // A last label that is a number makes the whole host an address (WHATWG URL, "ends in a number").
        guard last.utf8.allSatisfy(isDigit) || last.hasPrefix("0x") else { return (name, nil) }
        guard let address = IPAddress(ipv4: name) else { return nil }
        return (name, address)
    }

    /// RFC 952 and RFC 1123 §2.1.
    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
            && label.utf8.allSatisfy { isDigit($0) || (0x61...0x7A).contains($0) || $0 == 0x2D }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
