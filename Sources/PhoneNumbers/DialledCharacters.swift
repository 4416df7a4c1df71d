/// The characters of numbers and codes as people type them.
extension Unicode.Scalar {
    /// A plus, narrow or full-width.
    var isPlus: Bool { self == "+" || self == "\u{FF0B}" }

    /// The value of a decimal digit of any script.
    var decimalDigit: UInt8? {
        if isASCII { return ("0"..."9").contains(self) ? UInt8(value - 0x30) : nil }
        guard properties.generalCategory == .decimalNumber else { return nil }
        return properties.numericValue.flatMap { UInt8(exactly: $0) }
    }

    /// The small letter of an ASCII letter; anything else as it is.
    var lowercased: Unicode.Scalar {
        ("A"..."Z").contains(self) ? Unicode.Scalar(UInt8(truncatingIfNeeded: value) | 0x20) : self
    }

    /// Whether it is a letter of any script.
    var isLetter: Bool {
        if isASCII { return ("a"..."z").contains(self) || ("A"..."Z").contains(self) }
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: return true
        default: return false
        }
    }

    /// Whether it is a digit or another numeric character.
    var isNumber: Bool {
        if isASCII { return ("0"..."9").contains(self) }
        switch properties.generalCategory {
        case .decimalNumber, .letterNumber, .otherNumber: return true
        default: return false
        }
    }

    /// Whether it may be between the digits of a number: dashes, spaces, dots, slashes, brackets, the star.
    var isDialPunctuation: Bool {
        switch self {
        case "-", " ", "(", ")", ".", "[", "]", "/", "*", "\u{2010}"..."\u{2015}", "\u{2212}", "\u{30FC}",
            "\u{FF0D}"..."\u{FF0F}", "\u{00A0}", "\u{00AD}", "\u{200B}", "\u{2060}", "\u{3000}", "\u{FF08}", "\u{FF09}",
            "\u{FF3B}", "\u{FF3D}", "\u{2053}", "\u{223C}":
            true
        default: false
        }
    }
}

/// The digits of a code as a person typed it: of any script, in groups.
package enum TypedDigits {
    /// The longest text that is folded, in Unicode scalars.
    private static let limit = 64

    /// The text with digits of any script as ASCII digits, and without blanks, dashes and marks of direction. So
    /// `１２３ ４５６`, `123-456` and `123456` are one. Whatever else is in it stays.
    package static func folded(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars.prefix(limit + 1))
        guard scalars.count <= limit else { return text }
        var folded = String.UnicodeScalarView()
        for scalar in scalars where !scalar.isSeparator {
            folded.append(scalar.decimalDigit.map { Unicode.Scalar(UInt8(ascii: "0") + $0) } ?? scalar)
        }
        return String(folded)
    }
}

extension Unicode.Scalar {
    /// Whether it may be in a code without being a part of it.
    fileprivate var isSeparator: Bool {
        if properties.isWhitespace || isDialPunctuation { return true }
        switch properties.generalCategory {
        case .dashPunctuation, .format: return true
        default: return false
        }
    }
}
