/// What an access token of a provider's backend permits (RFC 6749 §3.3). A provider token permits all of it.
///
/// No scope permits changes of keys and of the webhook: they require a proof for the one request. Changes of a stream
/// require both.
package enum ProviderScope: String, Sendable, CaseIterable {
    /// Introspection of sessions, and checks of identity tokens.
    case sessionsRead = "sessions.read"
    case sessionsEnd = "sessions.end"
    /// Reading the data of users that a provider may know.
    case usersRead = "users.read"
    case usersNotify = "users.notify"
    /// Reading where security events are sent.
    case ssfRead = "ssf.read"
    /// Managing streams of security events: creating and deleting them, their status, and their waiting events.
    case ssfManage = "ssf.manage"
}

package extension ProviderScope {
    /// The scopes of a token whose request names none. Managing streams must be requested explicitly.
    static let unasked = Set(allCases).subtracting([.ssfManage])

    /// Whether a token with these scopes permits a call that requires this one. Managing streams includes reading them.
    func isGranted(by scopes: Set<ProviderScope>) -> Bool {
        scopes.contains(self) || self == .ssfRead && scopes.contains(.ssfManage)
    }

    /// Parses a `scope` parameter: words separated by single spaces, in any order.
    ///
    /// - Throws: ``Refusal`` `malformed_request` with reason `invalid_scope` for an unknown word, or if there is none.
    static func parse(_ text: String) throws(Refusal) -> Set<ProviderScope> {
        var scopes: Set<ProviderScope> = []
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            guard let scope = ProviderScope(rawValue: String(word)) else {
                throw Refusal.unknownScope
            }
            scopes.insert(scope)
        }
        return scopes
    }

    /// The `scope` parameter for a set, in the order of the declaration.
    static func text(_ scopes: Set<ProviderScope>) -> String {
        allCases.filter(scopes.contains).map(\.rawValue).joined(separator: " ")
    }
}
