import Domain
import Foundation

/// Names in a form that ignores case, diacritics, hyphens and apostrophes.
enum NameFolding {
    /// How letters outside A to Z are written.
    enum Spelling: CaseIterable, Sendable {
        /// Without their marks, such as `MULLER`.
        case plain
        /// As ICAO 9303-3 §6 transliterates them: `MUELLER`.
        case icao
        /// By the other forms in the same table, and by further common ones: `DJ` for Đ, `NXX` for Ñ.
        case further
    }

    /// The words of a name in capitals, without marks. Letters of other scripts stay.
    static func words(_ name: String, spelling: Spelling = .plain) -> [String] {
        var words: [String] = []
        var word = String.UnicodeScalarView()
        func end() {
            if !word.isEmpty { words.append(String(word)) }
            word.removeAll()
        }
        let composed = name.prefix(maximumLength).precomposedStringWithCanonicalMapping.uppercased()
        for scalar in composed.unicodeScalars {
            if scalar.isASCII {
                let byte = UInt8(truncatingIfNeeded: scalar.value)
                if byte.isCapital || byte.isDigit {
                    word.append(scalar)
                } else if byte != UInt8(ascii: "'"), byte != UInt8(ascii: "`"), byte != UInt8(ascii: ".") {
                    end()
                }
            } else if let letters = spelled(scalar, spelling) {
                word.append(contentsOf: letters.unicodeScalars)
            } else if ignored.contains(scalar) {
                continue
            } else if scalar.properties.isAlphabetic {
                word.append(contentsOf: unmarked(scalar))
            } else if scalar.properties.generalCategory != .nonspacingMark {
                end()
            }
        }
        end()
        return words
    }

    /// The words of a name, each in all its spellings, because a name may have both a word without marks and a
    /// transliterated word. No spelling divides a word.
    static func spelledWords(_ name: String) -> [Set<String>] {
        let plain = words(name)
        var spelled = plain.map { Set([$0]) }
        guard !name.utf8.allSatisfy({ $0 < 0x80 }) else { return spelled }
        for spelling in Spelling.allCases where spelling != .plain {
            for (place, word) in words(name, spelling: spelling).enumerated() where place < spelled.count {
                spelled[place].insert(word)
            }
        }
        return spelled
    }

    /// The whole name without blanks, in all spellings.
    static func foldedSpellings(_ name: String) -> Set<String> {
        Set(Spelling.allCases.map { words(name, spelling: $0).joined() })
    }

    /// Whether a word is a generation or a title after a name. `V` is not, because it is also an initial.
    static func isSuffix(_ word: String) -> Bool { suffixes.contains(word) }

    /// Whether a word means a name that is unknown, or that the holder does not have (*first name unknown*).
    static func isPlaceholder(_ word: String) -> Bool { placeholders.contains(word) }

    /// The whole name without blanks.
    static func folded(_ name: String) -> String {
        words(name).joined()
    }

    private static let maximumLength = 256
    /// Apostrophes, and letters that are used as such: Hawaii's ʻokina, ayin and hamza.
    private static let ignored: Set<Unicode.Scalar> = [
        "\u{2018}", "\u{2019}", "\u{201B}", "\u{2032}", "\u{02B9}", "\u{02BB}", "\u{02BC}", "\u{02BD}", "\u{02BE}",
        "\u{02BF}", "\u{02C8}", "\u{00B4}", "\u{200D}", "\u{FF07}", "\u{A78C}",
    ]
    private static let suffixes: Set<String> = [
        "JR", "SR", "II", "III", "IV", "VI", "VII", "VIII", "IX", "1ST", "2ND", "3RD", "4TH", "5TH", "6TH", "7TH",
        "8TH", "9TH", "ESQ", "MD", "PHD", "DDS",
    ]
    private static let placeholders: Set<String> = ["FNU", "LNU", "MNU", "NFN", "NLN", "NMN", "UNKNOWN", "XXX", "NONE"]

    private static func unmarked(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars.filter {
            $0.properties.generalCategory != .nonspacingMark
        }
    }

    private static func spelled(_ scalar: Unicode.Scalar, _ spelling: Spelling) -> String? {
        guard let forms = letters[scalar] else { return nil }
        switch spelling {
        case .plain: return forms.plain
        case .icao: return forms.icao
        case .further: return forms.further
        }
    }

    /// `nil` means the letter without its mark.
    private static let letters: [Unicode.Scalar: (plain: String?, icao: String?, further: String?)] = [
        "Æ": ("AE", "AE", "AE"), "Œ": ("OE", "OE", "OE"), "Þ": ("TH", "TH", "TH"), "ẞ": ("SS", "SS", "SS"),
        "Ĳ": ("IJ", "IJ", "IJ"), "Ð": ("D", "D", "DH"), "Đ": ("D", "D", "DJ"), "Ł": ("L", "L", "L"),
        "Ħ": ("H", "H", "H"), "Ŧ": ("T", "T", "TH"), "Ŋ": ("N", "N", "NG"), "Ə": ("E", "E", "A"),
        "Ø": ("O", "OE", "O"), "Ä": (nil, "AE", "AXX"), "Ö": (nil, "OE", "OXX"), "Ü": (nil, "UE", "UXX"),
        "Å": (nil, "AA", nil), "Ñ": (nil, nil, "NXX"),
    ]
}

package extension PersonName {
    /// A name as cards print it: in capitals, without accents, with hyphens and apostrophes. Letters of other scripts stay.
    static func printed(_ name: String) -> String {
        var printed = ""
        var part = ""
        for scalar in name.unicodeScalars {
            let mark: String
            switch scalar {
            case "-", "\u{2010}", "\u{2011}": mark = "-"
            case "'", "\u{2018}", "\u{2019}", "\u{02BC}": mark = "'"
            case " ", "\u{A0}": mark = " "
            default:
                part.unicodeScalars.append(scalar)
                continue
            }
            printed += fold(part) + mark
            part = ""
        }
        return printed + fold(part)
    }

    /// A part without marks. Anything but letters stays, so that the caller can refuse it.
    private static func fold(_ part: String) -> String {
        part.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.generalCategory == .nonspacingMark
        }
            ? NameFolding.folded(part) : part.uppercased()
    }
}
