import Foundation

/// Servers through which devices connect for calls: `Policies/calls.yaml`.
package struct CallPolicy: Sendable, Equatable {
    /// How long after it starts a call may be answered, in seconds.
    package var ringing: TimeInterval = 60
    /// The `stun:` URLs (RFC 7064) that devices receive.
    package var stunURLs: [String] = []
    /// The `turn:` and `turns:` URLs (RFC 7065) that devices receive, with credentials.
    package var turnURLs: [String] = []
    /// The file with the secret that the service shares with the TURN servers.
    package var turnSecretFile = "turn.secret"
    /// How long credentials are valid.
    package var turnLifetime: TimeInterval = 3600
    /// How often one user may request credentials in an hour.
    package var credentialsPerHour = 60

    init() {}

    /// Whether a text is a URL with one of the schemes: `scheme:host`, an optional port and, for TURN, a transport.
    package static func isServer(_ text: String, schemes: Set<String>) -> Bool {
        guard text.utf8.count <= 512, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }),
            let colon = text.firstIndex(of: ":"), schemes.contains(String(text[..<colon]))
        else { return false }
        let parts = text[text.index(after: colon)...].split(separator: "?", omittingEmptySubsequences: false)
        let query = parts.dropFirst().first
        guard parts.count <= 2, let host = parts.first, !host.isEmpty, !host.contains("/"), !host.contains("@") else {
            return false
        }
        return query == nil
            || text.hasPrefix("turn") && ["transport=udp", "transport=tcp"].contains(query.map(String.init))
    }
}
