import Foundation

/// A person's languages in the order of preference, as language ranges (RFC 4647 §2.1).
package struct LanguagePreferences: Sendable {
    let ranges: [String]

    private init(ranges: [String]) { self.ranges = ranges }
}

package extension LanguagePreferences {
    static let none = LanguagePreferences(ranges: [])

    /// - Throws: ``Refusal`` `malformed_request` if the tag does not have the form of RFC 5646.
    init(tag: String) throws(Refusal) {
        guard Self.isRange(tag) else {
            throw Refusal.unreadableLanguage
        }
        ranges = [tag]
    }

    /// Parses an `Accept-Language` field (RFC 9110 §12.5.4). Invalid parts and `*` are skipped.
    init(acceptLanguage field: String) {
        let weighted = (field.utf8.count <= 512 ? field : "").split(separator: ",").prefix(32).compactMap(Self.item)
        // Ranges of equal weight keep their order.
        ranges = weighted.enumerated()
            .sorted { ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset) }
            .map(\.element.range)
    }

    private static func item(_ text: Substring) -> (range: String, weight: Double)? {
        let parts = text.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
        guard let range = parts.first, isRange(range) else { return nil }
        var weight = 1.0
        for part in parts.dropFirst() where part.lowercased().utf8.starts(with: "q=".utf8) {
            weight = Double(part.dropFirst(2)) ?? 0
        }
        return weight > 0 && weight <= 1 ? (range, weight) : nil
    }

    /// The value of the first range that has one, by the lookup of RFC 4647 §3.4: each range loses subtags from its end
    /// until there is a value.
    ///
    /// - Parameter value: the value of a tag in lower case; `nil` if there is none.
    func lookup<Value>(_ value: (String) -> Value?) -> Value? {
        for range in ranges {
            var subtags = range.lowercased().split(separator: "-", omittingEmptySubsequences: false)
            while !subtags.isEmpty {
                if let found = value(subtags.joined(separator: "-")) { return found }
                subtags.removeLast()
                // A singleton is removed with the subtag that followed it.
                if subtags.last?.utf8.count == 1 { subtags.removeLast() }
            }
        }
        return nil
    }

    /// Whether a text has the form of a language range: subtags of one to eight letters and digits.
    private static func isRange(_ text: String) -> Bool {
        text.utf8.count <= 64
            && text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).allSatisfy { subtag in
                (1...8).contains(subtag.count)
                    && subtag.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) }
            }
    }
}
