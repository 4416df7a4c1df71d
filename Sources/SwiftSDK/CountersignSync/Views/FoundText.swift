import Foundation

/// A text with the words that a search found in it.
public struct FoundText: Sendable, Hashable {
    /// The text, or the part of a long one with most of the words. `…` replaces what was left out.
    public let text: String
    /// The places of the words in ``text``, in order.
    public let matches: [Range<String.Index>]

    /// Reads a text in which a mark precedes and follows each word that was found.
    init(_ marked: String, mark: String) {
        var (bytes, places): ([UInt8], [Range<Int>]) = ([], [])
        let pieces = Array(marked.utf8).split(separator: Array(mark.utf8), omittingEmptySubsequences: false)
        for (number, piece) in pieces.enumerated() {
            if !number.isMultiple(of: 2) { places.append(bytes.count..<bytes.count + piece.count) }
            bytes += piece
        }
        let text = String(decoding: bytes, as: UTF8.self)
        self.text = text
        matches = places.map { place in
            let start = text.utf8.index(text.startIndex, offsetBy: place.lowerBound)
            return start..<text.utf8.index(start, offsetBy: place.count)
        }
    }
}

/// The words that a user searches for, as an expression of FTS5.
struct SearchQuery: Sendable {
    /// Each word is a quoted string, so no text is an operator or an error.
    let expression: String

    /// Characters of a text and words of it that are used.
    private static let (longest, most) = (256, 16)

    /// - Returns: `nil` if the text has no letter and no digit.
    init?(_ text: String) {
        let words = text.unicodeScalars.prefix(Self.longest).split(whereSeparator: Self.isBetweenWords)
            .filter { $0.contains(where: Self.isOfWord) }.prefix(Self.most)
        guard !words.isEmpty else { return nil }
        // The user may still be typing the last word.
        expression = words.map { "\"\(String($0))\"" }.joined(separator: " ") + "*"
    }

    private static func isBetweenWords(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\"" || scalar.properties.isWhitespace || scalar.properties.generalCategory == .control
    }

    /// Whether the index takes a character as part of a word. A string without such a character would find nothing.
    private static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .privateUse:
            true
        default: false
        }
    }
}
