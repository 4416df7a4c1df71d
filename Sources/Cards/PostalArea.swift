/// The postal codes of a jurisdiction: ranges of the first three digits in the US, first letters in Canada.
public struct PostalArea: Sendable, Equatable {
    /// First three digits of ZIP codes.
    public let prefixes: [ClosedRange<Int>]
    /// First letters of Canadian codes.
    public let letters: [UInt8]

    /// Reads `201 205 220-246`, or `G H J`.
    init(_ notation: String) {
        let words = notation.split(separator: " ")
        letters = words.compactMap { $0.utf8.count == 1 ? $0.utf8.first : nil }
        prefixes = words.filter { $0.utf8.count > 1 }.compactMap { word in
            let ends = word.split(separator: "-").compactMap { Int($0) }
            guard let first = ends.first, let last = ends.last, first <= last else { return nil }
            return first...last
        }
    }

    /// Whether a postal code lies here; `nil` for what is no postal code.
    public func contains(_ postalCode: String) -> Bool? {
        let code = postalCode.utf8.filter { $0.isDigit || $0.isCapital }
        if code.count == 6, code[0].isCapital { return letters.contains(code[0]) }
        guard code.count == 5 || code.count == 9, code.allSatisfy(\.isDigit) else { return nil }
        let prefix = code.prefix(3).reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        return prefixes.contains { $0.contains(prefix) }
    }
}
