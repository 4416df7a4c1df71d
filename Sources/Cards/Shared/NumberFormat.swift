/// The formats of a jurisdiction's document numbers. A format is runs of letters (`L`), digits (`D`) or either (`X`),
/// each with a length, such as `L1D8-11`. Blanks separate alternatives.
struct NumberFormat: Sendable, Equatable {
    /// The alternatives, each one a sequence of runs.
    let alternatives: [[Run]]

    /// A run of characters of one class.
    struct Run: Sendable, Equatable {
        enum Class: Sendable {
            case letter, digit, either
        }

        let characters: Class
        let count: ClosedRange<Int>
    }

    /// Parses the notation; an invalid run ends its alternative.
    init(_ notation: String) {
        alternatives = notation.utf8.split(separator: UInt8(ascii: " ")).map { Self.runs(Array($0)) }
    }

    private static func runs(_ notation: [UInt8]) -> [Run] {
        var runs: [Run] = []
        var position = 0
        func number() -> Int {
            var value = 0
            while position < notation.count, notation[position].isDigit {
                value = value * 10 + Int(notation[position] - UInt8(ascii: "0"))
                position += 1
            }
            return value
        }
        while position < notation.count {
            let characters: Run.Class
            switch notation[position] {
            case UInt8(ascii: "L"): characters = .letter
            case UInt8(ascii: "D"): characters = .digit
            case UInt8(ascii: "X"): characters = .either
            default: return runs
            }
            position += 1
            let least = number()
            var most = least
            if position < notation.count, notation[position] == UInt8(ascii: "-") {
                position += 1
                most = max(least, number())
            }
            runs.append(Run(characters: characters, count: least...most))
        }
        return runs
    }

    /// Whether a normalised number has one of the formats.
    func admits(_ number: String) -> Bool {
        let bytes = Array(number.utf8)
        return alternatives.contains { Self.matches(bytes, $0) }
    }

    /// Whether a number of a length may exist although no format has it. The formats are older than today's cards. So a
    /// length is too short only under half of the shortest, and too long only from six characters above the longest.
    /// The formats of one issuer differ by five at most, except New York's of before 1992.
    func isNearLength(_ length: Int) -> Bool { !isTooShort(length) && length <= longest + 5 }

    /// Whether a number is shorter than any that the issuer can have issued.
    func isTooShort(_ length: Int) -> Bool { length * 2 < shortest }

    /// Whether a number may exist although no format has so many letters. New formats have had one letter more.
    func isNearLetters(_ number: String) -> Bool {
        let most = alternatives.map { $0.filter { $0.characters != .digit }.reduce(0) { $0 + $1.count.upperBound } }
        return number.utf8.count(where: \.isCapital) <= (most.max() ?? 0) + 1
    }

    private var shortest: Int { alternatives.map { $0.reduce(0) { $0 + $1.count.lowerBound } }.min() ?? 0 }
    private var longest: Int { alternatives.map { $0.reduce(0) { $0 + $1.count.upperBound } }.max() ?? 0 }

    /// Each run consumes as many characters as it can, because no two adjacent runs of the table share a character.
    private static func matches(_ bytes: [UInt8], _ runs: [Run]) -> Bool {
        var position = 0
        for run in runs {
            var taken = 0
            while taken < run.count.upperBound, position < bytes.count, run.characters.contains(bytes[position]) {
                taken += 1
                position += 1
            }
            guard taken >= run.count.lowerBound else { return false }
        }
        return position == bytes.count
    }
}

extension NumberFormat.Run.Class {
    fileprivate func contains(_ byte: UInt8) -> Bool {
        switch self {
        case .letter: byte.isCapital
        case .digit: byte.isDigit
        case .either: byte.isCapital || byte.isDigit || byte == UInt8(ascii: "*")
        }
    }
}
