/// Text that others will read on a screen, in a terminal or in a log: names, identifiers, notes.
///
/// It must not contain invisible characters that change what is seen: Unicode's categories Cc, Cf, Zl, Zp, Cs and the
/// noncharacters. These are controls, line separators and format characters, including those that change the
/// direction of writing (UAX #9). RFC 8264 §9.10 and §9.13 refuse them in every string class. The joiners U+200C and
/// U+200D are format characters too, but names in some scripts need them. They are allowed where RFC 5892 appendix
/// A.1 and A.2 allow them, and in an emoji.
package enum PlainText {}

package extension PlainText {
    /// The use of a text, which decides what it may contain.
    enum Use: Sendable {
        /// Programs compare it. Joiners are refused, because different identifiers could look alike.
        case identifier
        case prose
        /// People read it, and it has several lines: line feeds and tabs are allowed.
        case note
    }

    /// Whether a text contains nothing that is refused.
    static func isPlain(_ text: String, for use: Use) -> Bool {
        var before: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            if isHidden(scalar) {
                switch (use, scalar) {
                case (.note, "\n"), (.note, "\t"): break
                case (.prose, "\u{200C}"), (.prose, "\u{200D}"), (.note, "\u{200C}"), (.note, "\u{200D}"):
                    guard let before, takesJoiner(before) else { return false }
                default: return false
                }
            }
            before = scalar
        }
        return true
    }

    /// Whether a text shows nothing: white space, blank letters such as the filler of Hangul, and hidden characters.
    static func isBlank(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isWhitespace || scalar.properties.isDefaultIgnorableCodePoint || scalar.value == 0x2800
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
