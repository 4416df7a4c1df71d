import Domain
import Foundation

/// Names in a form that ignores case, diacritics, hyphens and apostrophes.
package enum NameFolding {
    /// How letters outside A to Z are written.
    package enum Spelling: CaseIterable, Sendable {
        /// Without their marks: `MULLER`.
        case plain
        /// As ICAO 9303-3 §6 transliterates them: `MUELLER`.
        case icao
    }

    /// The words of a name: capitals, no marks. Letters of other scripts stay.
    package static func words(_ name: String, spelling: Spelling = .plain) -> [String] {
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
            } else if scalar.properties.isAlphabetic {
                word.append(contentsOf: unmarked(scalar))
            } else if !ignored.contains(scalar), scalar.properties.generalCategory != .nonspacingMark {
                end()
            }
        }
        end()
        return words
    }

    /// The whole name without blanks.
    package static func folded(_ name: String) -> String {
        words(name).joined()
    }

    private static let maximumLength = 256
    private static let ignored: Set<Unicode.Scalar> = ["\u{2018}", "\u{2019}", "\u{02BC}", "\u{00B4}", "\u{200D}"]

    private static func unmarked(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars.filter {
            $0.properties.generalCategory != .nonspacingMark
        }
    }

    private static func spelled(_ scalar: Unicode.Scalar, _ spelling: Spelling) -> String? {
        switch (scalar, spelling) {
        case ("Æ", _): "AE"
        case ("Œ", _): "OE"
        case ("Þ", _): "TH"
        case ("ẞ", _): "SS"
        case ("Ð", _), ("Đ", _): "D"
        case ("Ł", _): "L"
        case ("Ħ", _): "H"
        case ("Ø", .plain): "O"
        case ("Ä", .icao): "AE"
        case ("Ö", .icao), ("Ø", .icao): "OE"
        case ("Ü", .icao): "UE"
        case ("Å", .icao): "AA"
        default: nil
        }
    }
}
