/// The postal codes of a jurisdiction: ranges of the first three digits in the US, first letters in Canada.
struct PostalArea: Sendable, Equatable {
    /// The ranges of the first three digits of ZIP codes.
    let prefixes: [ClosedRange<Int>]
    /// First letters of Canadian codes, as ASCII.
    let letters: [UInt8]

    /// Parses a list such as `201 205 220-246` or `G H J`.
    init(_ notation: String) {
        let words = notation.split(separator: " ")
        letters = words.compactMap { $0.utf8.count == 1 ? $0.utf8.first : nil }
        prefixes = words.filter { $0.utf8.count > 1 }.compactMap { word in
            let ends = word.split(separator: "-").compactMap { Int($0) }
            guard let first = ends.first, let last = ends.last, first <= last else { return nil }
            return first...last
        }
    }

    /// The area of an address's state or province; `nil` if it is unknown.
    static func of(_ code: String) -> PostalArea? { Jurisdiction.of(code: code)?.postalArea ?? military[code] }

    /// The postal codes of US forces, which belong to no state and no issuer of cards.
    static let military = ["AA": PostalArea("340"), "AE": PostalArea("090-098"), "AP": PostalArea("962-966")]

    /// Whether an address can be in a state or province of this code. Cards may have an address in Mexico or in the
    /// states of free association too.
    static func isKnown(_ code: String) -> Bool { of(code) != nil || abroad.contains(code) }

    /// The codes of ANSI D-20, and of the states' agreement on fuel taxes.
    private static let abroad = Set(
        """
        FM MH PW AG BA BC BJ BN BS CE CH CI CL CM CO CP CS CU DF DG DO DU EM GJ GR GT GU HG HL JA JL MC MI MO MR MX NA \
        NL OA PB PU QE QI QR QT RO SI SL SO TA TB TL TM VC VE VL YC YU ZA ZT
        """.split(separator: " ").map(String.init))

    /// Whether a postal code is in this area; `nil` if it is not a valid code, or if the area's codes are unknown.
    func contains(_ postalCode: String) -> Bool? {
        guard !prefixes.isEmpty || !letters.isEmpty, let code = Self.code(postalCode)?.utf8 else { return nil }
        if let letter = code.first, letter.isCapital { return letters.contains(letter) }
        let prefix = code.prefix(3).reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        return prefixes.contains { $0.contains(prefix) }
    }

    /// A postal code in canonical form: `23269` or `23269-1234`, `K1A 0B1`. Cards may have a tenth digit, zeros for
    /// the last four, blanks, or more text after it, so only the leading digits are read. `nil` for any other form,
    /// and for zeros alone.
    static func code(_ written: String) -> String? {
        let bytes = written.utf8.map(\.capitalised)
        let letters = bytes.filter { $0.isDigit || $0.isCapital }.prefix(6)
        if let first = letters.first, first.isCapital {
            guard letters.count == 6, letters.enumerated().allSatisfy({ $0 % 2 == 0 ? $1.isCapital : $1.isDigit })
            else { return nil }
            return "\(text(letters.prefix(3))) \(text(letters.suffix(3)))"
        }
        let digits = bytes.prefix { $0.isDigit }
        let behind = bytes.dropFirst(digits.count)
        let isNothing = (digits + behind).allSatisfy { [UInt8(ascii: "0"), UInt8(ascii: "-"), 0x20].contains($0) }
        guard digits.count >= 5, !isNothing else { return nil }
        let isHyphenated = digits.count == 5 && behind.first == UInt8(ascii: "-")
        let extra = isHyphenated ? behind.dropFirst().prefix { $0.isDigit } : digits.dropFirst(5)
        guard extra.count >= 4, !extra.prefix(4).allSatisfy({ $0 == UInt8(ascii: "0") }) else {
            return text(digits.prefix(5))
        }
        return "\(text(digits.prefix(5)))-\(text(extra.prefix(4)))"
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
