/// Text that others will read on a screen, in a terminal or in a log: names, identifiers, notes.
///
/// It must not contain invisible characters that change what is seen: Unicode's categories Cc, Cf, Zl, Zp, Cs and the
/// noncharacters. These are controls, line separators and format characters, including those that change the
/// direction of writing (UAX #9). RFC 8264 §9.10 and §9.13 refuse them in every string class. The joiners U+200C and
/// U+200D are format characters too, but names in some scripts need them. They are allowed where RFC 5892 appendix
/// A.1 and A.2 allow them, and in an emoji. Letters and marks that show nothing, such as the fillers of Hangul, are
/// refused in what people name or write. Identifiers of a provider may have them, because they are its own.
///
/// ``isPlain(_:for:)`` decides which texts are accepted, and ``shown(_:keeping:)`` how a text is shown.
package enum PlainText {}

package extension PlainText {
    /// The use of a text, which decides what it may contain.
    enum Use: Sendable {
        /// Programs compare it. Joiners are refused, because different identifiers could look alike.
        case identifier
        case prose
        /// People read it, and it has several lines: line feeds, with or without a carriage return, tabs, and the marks of
        /// direction U+200E, U+200F and U+061C are allowed.
        case note
    }

    /// Whether a text contains nothing that is refused.
    static func isPlain(_ text: String, for use: Use) -> Bool {
        var before: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            if before == "\r", scalar != "\n" { return false }
            if isHidden(scalar) {
                switch (use, scalar) {
                // The marks of direction order the punctuation beside them, and no letters (UAX #9 §2.6).
                case (.note, "\n"), (.note, "\r"), (.note, "\t"), (.note, "\u{200E}"), (.note, "\u{200F}"),
                    (.note, "\u{61C}"):
                    break
                case (.prose, "\u{200C}"), (.prose, "\u{200D}"), (.note, "\u{200C}"), (.note, "\u{200D}"):
                    guard let before, takesJoiner(before) else { return false }
                default: return false
                }
            } else if use != .identifier, showsNothing(scalar) {
                guard let before, takes(scalar, after: before) else { return false }
            }
            before = scalar
        }
        return before != "\r"
    }

    /// Whether a text shows nothing by itself: white space, blank letters such as the filler of Hangul, hidden
    /// characters, and marks without a letter.
    static func isBlank(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isWhitespace || showsNothing(scalar) || isMark(scalar)
        }
    }

    /// A text for people, in which nothing is invisible: such characters become `\u{202E}` and the like, and a line
    /// feed and a tab become `\n` and `\t`. So do blanks other than U+0020, and U+0020 at the start, at the end, and
    /// after another blank. Otherwise two identifiers could look alike.
    ///
    /// - Parameter kept: characters that stay, such as the line feeds of a message of several lines.
    static func shown(_ text: String, keeping kept: Set<Unicode.Scalar> = []) -> String {
        if text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) { return text }
        let scalars = text.unicodeScalars
        var shown = String.UnicodeScalarView()
        var isAfterBlank = true
        for index in scalars.indices {
            let scalar = scalars[index]
            let isBlank = scalar.properties.isWhitespace || scalar.value == 0x2800
            let isSeen =
                scalar == " " ? !isAfterBlank && scalars.index(after: index) != scalars.endIndex : !isBlank
            if kept.contains(scalar) || isSeen && !isInvisible(scalar) {
                shown.append(scalar)
            } else {
                shown.append(contentsOf: escape(scalar).unicodeScalars)
            }
            isAfterBlank = isBlank
        }
        return String(shown)
    }

    /// Controls, format characters (including those of direction), line and paragraph separators, noncharacters, and
    /// default ignorable code points.
    static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        isHidden(scalar) || scalar.properties.isDefaultIgnorableCodePoint
    }

    /// Whether a character is a letter that is seen.
    static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter:
            !scalar.properties.isDefaultIgnorableCodePoint
        default: false
        }
    }

    /// Refuses a text that is not plain, whose length in UTF-8 is outside the range, or that is blank although it may
    /// not be empty.
    ///
    /// - Parameter subject: the text, as the refusal names it.
    /// - Throws: ``Refusal`` `malformed_request`. No part of the text is in it.
    static func require(
        _ text: String, about subject: Refusal.Subject, bytes: ClosedRange<Int>, for use: Use
    ) throws(Refusal) {
        guard bytes.contains(text.utf8.count) else {
            throw Refusal.wrongLength(text.utf8.count, of: subject, allowed: bytes)
        }
        guard isPlain(text, for: use) else {
            throw Refusal.hiddenCharacter(in: subject)
        }
        guard bytes.contains(0) || !isBlank(text) else {
            throw Refusal.blank(subject)
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": "\\n"
        case "\t": "\\t"
        default: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        }
    }

    private static func showsNothing(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isDefaultIgnorableCodePoint || scalar.value == 0x2800
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    /// A sign without a picture of its own that writing needs: the form of an emoji, of an ideograph or of a Mongolian
    /// letter, and the space of Braille.
    private static func takes(_ scalar: Unicode.Scalar, after before: Unicode.Scalar) -> Bool {
        guard !showsNothing(before) else { return false }
        return switch scalar.value {
        case 0xFE0E, 0xFE0F: before.properties.isEmoji || before.value > 0x2000
        case 0xFE00...0xFE0D, 0xE0100...0xE01EF: before.value >= 0x1000
        case 0x180B...0x180D, 0x180F: (0x1820...0x18AA).contains(before.value)
        case 0x2800: (0x2801...0x28FF).contains(before.value)
        default: false
        }
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value >= 0x20, scalar.value < 0x7F { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: return true
        default: return scalar.properties.isNoncharacterCodePoint
        }
    }

    /// A virama (Brahmic scripts), a letter of a script whose letters join (Arabic, Syriac, Mongolian, N'Ko and their
    /// like), or a part of an emoji.
    private static func takesJoiner(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.properties.canonicalCombiningClass == .virama { return true }
        switch scalar.value {
        case 0x0620...0x08FF, 0x1807...0x18AF, 0xFB50...0xFDFF, 0xFE70...0xFEFC:
            return scalar.properties.isAlphabetic
        case 0xFE0F: return true
        default: return scalar.value > 0x2000 && scalar.properties.isEmoji || scalar.properties.isEmojiModifier
        }
    }
}
