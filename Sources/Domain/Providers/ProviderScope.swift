/// What an access token of a provider's backend permits (RFC 6749 §3.3). A provider token permits all of it.
///
/// Changes of keys and of the webhook are in no scope: they need a proof that is made for the one request. Changes of a
/// stream need both.
package enum ProviderScope: String, Sendable, CaseIterable {
    /// Introspection of sessions, and checks of identity tokens.
    case sessionsRead = "sessions.read"
    /// The end of sessions.
    case sessionsEnd = "sessions.end"
    /// What a provider may know of its users.
    case usersRead = "users.read"
    /// Notifications to users.
    case usersNotify = "users.notify"
    /// Where security events are sent.
    case ssfRead = "ssf.read"
    /// Streams of security events: their life, their status, and what waits in them.
    case ssfManage = "ssf.manage"

    /// What a token permits that asks for nothing: whoever means to manage streams says so.
    package static let unasked = Set(allCases).subtracting([.ssfManage])

    /// Whether a token with some scopes permits what needs this one. Whoever manages streams may read them.
    package func isGranted(by scopes: Set<ProviderScope>) -> Bool {
        scopes.contains(self) || self == .ssfRead && scopes.contains(.ssfManage)
    }

    /// Parses a `scope` parameter: words with one space between them, in any order.
    ///
    /// - Throws: ``Refusal`` `malformed_request` with reason `invalid_scope` for an unknown word, or none.
    package static func parse(_ text: String) throws(Refusal) -> Set<ProviderScope> {
        var scopes: Set<ProviderScope> = []
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            guard let scope = ProviderScope(rawValue: String(word)) else {
                throw Refusal.unknownScope
            }
            scopes.insert(scope)
        }
        return scopes
    }

    /// The `scope` parameter of a set, in the order of the declaration.
    package static func text(_ scopes: Set<ProviderScope>) -> String {
        allCases.filter(scopes.contains).map(\.rawValue).joined(separator: " ")
    }
}
