/// What an entry of the audit log is about: ids, never a name, number or address.
///
/// The log is searched by whole subjects, for which it has an index. Whoever gives an id alone means a subject of any
/// kind, so that each kind stands here.
package struct AuditSubject: Sendable, Equatable, CustomStringConvertible {
    /// The words before an id.
    package enum Kind: String, Sendable, CaseIterable {
        case app, archive, ban, certificate, country, device, key, message, prefix, provider, session, stream, user
        case users
        case wrappingKey = "wrapping key"
    }

    /// As it is stored.
    package let description: String

    package init(_ kind: Kind, _ id: some CustomStringConvertible) { description = "\(kind.rawValue) \(id)" }

    /// A scope of texts, by its name: it begins with a kind.
    package init(scopeOfTexts name: String) { description = name }

    private init(whole: String) { description = whole }

    /// The store as a whole.
    package static let store = AuditSubject(whole: "store")

    /// The stored subjects that a text may mean: itself, or an id of each kind.
    package static func meant(by text: String) -> [String] {
        [text] + Kind.allCases.map { "\($0.rawValue) \(text)" }
    }
}
