import Domain
import Encoding

/// What a request asks for: a path and a query, as the browser sent them.
struct Target: Sendable {
    let text: String
    let path: Substring
    let query: Substring

    init(_ text: String) {
        self.text = text
        let end = text.utf8.firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex
        path = text[..<end]
        query = text[end...].dropFirst()
    }
}

extension Target {
    /// The largest number of fields in a query or form.
    private static let most = 64
    /// The longest name, bytes. A value is as long as the listener permits.
    private static let longestName = 64

    /// The fields of a query or a form, each given once.
    ///
    /// - Throws: `Refusal` `malformed_request`.
    static func values(_ bytes: some Collection<UInt8>) throws(Refusal) -> [String: String] {
        let fields: [(name: String, value: String)]
        do throws(FormFields.Defect) {
            fields = try FormFields.parse(bytes, most: most)
        } catch {
            throw Refusal.fieldsUnreadable
        }
        var values: [String: String] = [:]
        for (name, value) in fields {
            guard name.utf8.count <= longestName, name.hasNoControls, value.hasNoControls, values[name] == nil else {
                throw Refusal.fieldsUnreadable
            }
            values[name] = value
        }
        return values
    }

    /// The host of an authority, without its port and without the brackets of an IPv6 address.
    static func host(of authority: String) -> String {
        if authority.utf8.first == UInt8(ascii: "[") {
            return String(Substring(authority.utf8.dropFirst().prefix { $0 != UInt8(ascii: "]") }))
        }
        return String(Substring(authority.utf8.prefix { $0 != UInt8(ascii: ":") }))
    }
}
