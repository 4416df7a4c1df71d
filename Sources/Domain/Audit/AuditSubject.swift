/// What an entry of the audit log is about: ids, never a name, number or address.
///
/// The log has an index for searches by the whole subject. A search by an id alone covers subjects of every kind, so
/// each kind is listed here.
package struct AuditSubject: Sendable, Equatable, CustomStringConvertible {
    /// The stored form: the kind and the id.
    package let description: String

    private init(whole: String) { description = whole }
}

package extension AuditSubject {
    /// The word before the id in the stored form.
    enum Kind: String, Sendable, CaseIterable {
        case administrator, app, archive, ban, certificate, country, device, issuers, key, message, prefix, provider
        case session, stream, user, users
        case wrappingKey = "wrapping key"
    }

    init(_ kind: Kind, _ id: some CustomStringConvertible) { description = "\(kind.rawValue) \(id)" }

    /// A scope of text messages. Its name begins with a ``Kind``.
    init(scopeOfTexts name: String) { description = name }

    /// A subject as `description` stored it.
    init(stored text: String) { description = text }

    /// The store as a whole.
    static let store = AuditSubject(whole: "store")

    /// The stored subjects that a search text can mean: itself, or the id with each kind.
    ///
    /// Ids are stored in lower case. A text that ends with one may have it in either case.
    static func meant(by text: String) -> [String] {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let id = words.last.flatMap { Identifier<Domain.Kind.User>($0) }
        let text = id.map { (words.dropLast().map(String.init) + [$0.description]).joined(separator: " ") } ?? text
        return [text] + Kind.allCases.map { "\($0.rawValue) \(text)" }
    }
}
