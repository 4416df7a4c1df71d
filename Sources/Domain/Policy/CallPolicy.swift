import Foundation

/// Servers that help devices reach each other: `Policies/calls.yaml`.
package struct CallPolicy: Sendable, Equatable {
    /// How long after its opening a call may be offered and answered.
    package var ringing: TimeInterval = 60
    /// `stun:` URLs (RFC 7064) that devices are given.
    package var stunURLs: [String] = []
    /// `turn:` and `turns:` URLs (RFC 7065) that devices are given, with credentials.
    package var turnURLs: [String] = []
    /// The file that holds the secret which the TURN servers share with the service.
    package var turnSecretFile = "turn.secret"
    /// How long credentials are good for.
    package var turnLifetime: TimeInterval = 3600
    /// How often one user may ask for credentials in an hour.
    package var credentialsPerHour = 60

    package init() {}

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
