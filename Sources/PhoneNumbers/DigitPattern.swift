/// A regular expression over decimal digits, in the subset that numbering plans use: digits, `\d`, classes, groups,
/// alternatives, `?`, `{n}`, `{n,m}` and `$`. There is no unbounded repetition.
///
/// It does not use the platform's regular expressions. It answers whether a number matches as a whole, by following
/// all paths at once. It also finds the prefix, with groups, that a backtracking engine (Python's, Java's) would
/// match first. Neither search visits a position twice in the same state, so no number makes it slow.
struct DigitPattern: Sendable {
    indirect enum Node: Sendable {
        /// One digit of a class: bit n means digit n.
        case digit(UInt16)
        case sequence([Node])
        case alternatives([Node])
        case repeated(Node, ClosedRange<Int>)
        /// A capturing group by its number, from 0.
        case group(Int, Node)
        case end
    }

    private let root: Node
    private let groupCount: Int

    /// Parses an expression; `nil` for one outside the subset.
    init?(_ text: some StringProtocol) {
        var parser = DigitPatternParser(text)
        guard let root = parser.read() else { return nil }
        self.root = root
        groupCount = parser.groupCount
    }

    func matchesWhole(_ number: DigitText) -> Bool {
        Self.ends(of: root, from: 1, in: number) & (1 << UInt64(number.count)) != 0
    }

    func matchesStart(of number: DigitText) -> Bool {
        Self.ends(of: root, from: 1, in: number) != 0
    }

    /// The match at the number's start that a backtracking engine finds first; `nil` if there is none.
    func prefix(of number: DigitText) -> DigitPrefix? {
        let start = DigitPrefix(end: 0, groups: Array(repeating: nil, count: groupCount))
        return Self.prefixes(of: root, from: start, in: number).first
    }

    /// The positions where a match that starts at one of `starts` can end. Bit n means the position after n digits.
    private static func ends(of node: Node, from starts: UInt64, in number: DigitText) -> UInt64 {
        guard starts != 0 else { return 0 }
        switch node {
        case .digit(let digits): return (starts & number.positions(of: digits)) << 1
        case .sequence(let nodes):
            var reached = starts
            for node in nodes where reached != 0 { reached = ends(of: node, from: reached, in: number) }
            return reached
        case .alternatives(let nodes):
            return nodes.reduce(0) { $0 | ends(of: $1, from: starts, in: number) }
        case .repeated(let node, let bounds):
            var reached = starts
            for _ in 0..<bounds.lowerBound { reached = ends(of: node, from: reached, in: number) }
            var all = reached
            for _ in bounds.lowerBound..<bounds.upperBound {
                reached = ends(of: node, from: reached, in: number)
                all |= reached
            }
            return all
        case .group(_, let node): return ends(of: node, from: starts, in: number)
        case .end: return starts & (1 << UInt64(number.count))
        }
    }

    /// The matches from one start in the order of backtracking. Of several with the same end only the first is
    /// returned, because the rest of the pattern depends on the end alone.
    private static func prefixes(of node: Node, from start: DigitPrefix, in number: DigitText) -> [DigitPrefix] {
        switch node {
        case .digit(let digits):
            guard number.positions(of: digits) & (1 << UInt64(start.end)) != 0 else { return [] }
            return [DigitPrefix(end: start.end + 1, groups: start.groups)]
        case .sequence(let nodes):
            return nodes.reduce([start]) { starts, node in
                firstForEachEnd(starts.flatMap { prefixes(of: node, from: $0, in: number) })
            }
        case .alternatives(let nodes):
            return firstForEachEnd(nodes.flatMap { prefixes(of: $0, from: start, in: number) })
        case .repeated(let node, let bounds):
            var seen = [UInt64](repeating: 0, count: bounds.upperBound + 1)
            return firstForEachEnd(
                repetitions(of: node, bounds, done: 0, from: start, in: number, seen: &seen))
        case .group(let index, let node):
            return prefixes(of: node, from: start, in: number).map { inner in
                var match = inner
                match.groups[index] = start.end..<inner.end
                return match
            }
        case .end: return start.end == number.count ? [start] : []
        }
    }

    /// The matches of a repeated node after `done` repetitions, the longest first.
    ///
    /// - Parameter seen: the ends already reached, for each number of repetitions. Reaching one again finds nothing
    ///   new.
    private static func repetitions(
        of node: Node, _ bounds: ClosedRange<Int>, done: Int, from match: DigitPrefix, in number: DigitText,
        seen: inout [UInt64]
    ) -> [DigitPrefix] {
        guard seen[done] & (1 << UInt64(match.end)) == 0 else { return [] }
        seen[done] |= 1 << UInt64(match.end)
        var found: [DigitPrefix] = []
        if done < bounds.upperBound {
            for longer in prefixes(of: node, from: match, in: number) {
                found += repetitions(of: node, bounds, done: done + 1, from: longer, in: number, seen: &seen)
            }
        }
        if done >= bounds.lowerBound { found.append(match) }
        return found
    }

    private static func firstForEachEnd(_ matches: [DigitPrefix]) -> [DigitPrefix] {
        var seen: UInt64 = 0
        return matches.filter { match in
            let isNew = seen & (1 << UInt64(match.end)) == 0
            seen |= 1 << UInt64(match.end)
            return isNew
        }
    }
}

/// The match of a pattern at a number's start.
struct DigitPrefix: Sendable, Equatable {
    var end: Int
    /// The range of each capturing group; `nil` for one that did not take part.
    var groups: [Range<Int>?]
}

/// At most 63 digits, with an index of each digit's positions.
struct DigitText: Sendable, Equatable {
    /// The positions between 63 digits, ends included, fit in 64 bits.
    static let limit = 63

    /// The digits, 0 to 9.
    let digits: [UInt8]
    /// The positions of each digit, bit n for the n-th from 0.
    private let places: [UInt64]

    var count: Int { digits.count }

    /// Takes digits; `nil` for more than ``limit`` and for values above 9.
    init?(_ digits: some Collection<UInt8>) {
        guard digits.count <= Self.limit else { return nil }
        var places = [UInt64](repeating: 0, count: 10)
        for (position, digit) in digits.enumerated() {
            guard digit < 10 else { return nil }
            places[Int(digit)] |= 1 << UInt64(position)
        }
        self.digits = Array(digits)
        self.places = places
    }

    /// The positions of the digits in a class.
    func positions(of digits: UInt16) -> UInt64 {
        guard digits != DigitPatternParser.anyDigit else { return (1 << UInt64(count)) - 1 }
        var rest = digits
        var found: UInt64 = 0
        while rest != 0 {
            found |= places[rest.trailingZeroBitCount]
            rest &= rest - 1
        }
        return found
    }
}
