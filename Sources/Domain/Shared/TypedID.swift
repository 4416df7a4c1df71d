/// An id as an admin types it: whole, or the beginning of one.
package struct TypedID<Kind>: Hashable, Sendable {
    package let text: String
}

package extension TypedID {
    init(_ text: String) {
        self.text = text
    }

    /// The fewest characters of a beginning. Eight hexadecimal digits are shared by two of a million random ids once in
    /// 4,000 times.
    static var fewest: Int { 8 }

    /// The first and the last id that begin with the text, equal for a whole id; `nil` if no id begins with it.
    var range: (first: Identifier<Kind>, last: Identifier<Kind>)? {
        let count = text.utf8.count
        guard count >= Self.fewest, count <= Identifier<Kind>.textLength,
            let first = Identifier<Kind>(text + Self.zeros.dropFirst(count)),
            let last = Identifier<Kind>(text + Self.highest.dropFirst(count))
        else { return nil }
        return (first, last)
    }

    private static var zeros: String { "00000000-0000-0000-0000-000000000000" }
    private static var highest: String { "ffffffff-ffff-ffff-ffff-ffffffffffff" }
}
