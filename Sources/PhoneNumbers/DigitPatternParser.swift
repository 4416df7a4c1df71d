/// Parses the text of a ``DigitPattern``.
struct DigitPatternParser {
    /// The class of all ten digits, `\d`.
    static let anyDigit: UInt16 = 0b11_1111_1111

    private let text: [UInt8]
    private var position = 0
    private(set) var groupCount = 0

    init(_ text: some StringProtocol) {
        self.text = Array(text.utf8)
    }

    /// Parses the whole text as one pattern; `nil` if any of it is outside the subset.
    mutating func read() -> DigitPattern.Node? {
        guard let pattern = alternatives(), position == text.count else { return nil }
        return pattern
    }

    private var next: UInt8? { position < text.count ? text[position] : nil }

    private mutating func skip(_ expected: String) -> Bool {
        guard text[position...].starts(with: expected.utf8) else { return false }
        position += expected.utf8.count
        return true
    }

    private mutating func alternatives() -> DigitPattern.Node? {
        var found: [DigitPattern.Node] = []
        repeat {
            guard let sequence = sequence() else { return nil }
            found.append(sequence)
        } while skip("|")
        return found.count == 1 ? found[0] : .alternatives(found)
    }

    private mutating func sequence() -> DigitPattern.Node? {
        var found: [DigitPattern.Node] = []
        while let character = next, character != UInt8(ascii: "|"), character != UInt8(ascii: ")") {
            guard let atom = atom(), let repeated = repetition(of: atom) else { return nil }
            found.append(repeated)
        }
        return found.count == 1 ? found[0] : .sequence(found)
    }

    private mutating func atom() -> DigitPattern.Node? {
        if skip(#"\d"#) { return .digit(Self.anyDigit) }
        if skip("[") { return digitClass() }
        if skip("$") { return .end }
        if skip("(?:") {
            guard let inner = alternatives(), skip(")") else { return nil }
            return inner
        }
        if skip("(") {
            let index = groupCount
            groupCount += 1
            guard let inner = alternatives(), skip(")") else { return nil }
            return .group(index, inner)
        }
        return digit().map { .digit(1 << $0) }
    }

    private mutating func digitClass() -> DigitPattern.Node? {
        var digits: UInt16 = 0
        while !skip("]") {
            guard let first = digit() else { return nil }
            var last = first
            if skip("-") {
                guard let end = digit(), end >= first else { return nil }
                last = end
            }
            for value in first...last { digits |= 1 << value }
        }
        return .digit(digits)
    }

    private mutating func repetition(of node: DigitPattern.Node) -> DigitPattern.Node? {
        if skip("?") { return .repeated(node, 0...1) }
        guard skip("{") else { return node }
        guard let least = number() else { return nil }
        var most = least
        if skip(",") {
            guard let limit = number(), limit >= least else { return nil }
            most = limit
        }
        return skip("}") ? .repeated(node, least...most) : nil
    }

    private mutating func digit() -> UInt16? {
        guard let character = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else { return nil }
        position += 1
        return UInt16(character - UInt8(ascii: "0"))
    }

    /// A number of one or two digits: no plan repeats anything more than 99 times.
    private mutating func number() -> Int? {
        guard let first = digit() else { return nil }
        guard let second = digit() else { return Int(first) }
        return Int(first * 10 + second)
    }
}
