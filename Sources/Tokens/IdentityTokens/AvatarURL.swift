import Domain

/// The URL of a user's picture (RFC 3986). Accepted are `https` URLs on a registered host that all parsers of URLs
/// understand alike.
enum AvatarURL {
    /// Longer ones are refused, in bytes.
    static let maximumLength = 2048

    /// Why a URL is refused, in words; `nil` if it is accepted.
    static func objection(to text: String, hosts: [String]) -> String? {
        let prefix = "https://"
        guard text.hasPrefix(prefix) else { return "does not begin with https://" }
        let forbidden: Set<UInt8> = Set(#"\"<>^`{|}"#.utf8)
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !forbidden.contains($0) }) else {
            return "contains a character that must be escaped in a URL"
        }
        let authority = text.utf8.dropFirst(prefix.utf8.count).prefix { !"/?#".utf8.contains($0) }
        let host = String(decoding: authority, as: UTF8.self).lowercased()
        guard hosts.contains(where: { $0.lowercased() == host }) else {
            return "is not on a host that the provider registered"
        }
        return nil
    }
}
