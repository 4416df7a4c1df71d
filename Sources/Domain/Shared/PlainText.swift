/// Text that others will read on a screen, in a terminal or in a log: names, identifiers, notes.
///
/// Refused in it are the characters that nobody sees and that change what is seen (Unicode's categories Cc, Cf, Zl, Zp,
/// Cs and the noncharacters): controls, C1 controls, line separators, and format characters, among them those that turn
/// the direction of writing (UAX #9), as RFC 8264 §9.10 and §9.13 refuse them in every string class. The joiners U+200C
/// and U+200D are format characters too, and names cannot be written without them in some scripts: they stay where
/// RFC 5892 appendix A.1 and A.2 has a place for them, or an emoji.
package enum PlainText {
    /// What a text is for.
    package enum Use: Sendable {
        /// What programs compare: no joiner, for two identifiers must never look alike by one.
        case identifier
        case prose
        /// What people read, of several lines: line feeds and tabs stay.
        case note
    }

    /// Whether a text holds nothing that is refused.
    package static func isPlain(_ text: String, for use: Use) -> Bool {
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

    /// Refuses a text that is not plain, or not of such a length.
    ///
    /// - Parameter name: how the sentence calls it.
    /// - Throws: ``Refusal`` `malformed_request`. It holds nothing of the text.
    package static func require(
        _ text: String, _ name: String, bytes: ClosedRange<Int>, for use: Use
    ) throws(Refusal) {
        guard bytes.contains(text.utf8.count) else {
            throw Refusal(
                .malformedRequest, "\(name) has \(bytes.lowerBound) to \(bytes.upperBound) bytes.")
        }
        guard isPlain(text, for: use) else {
            throw Refusal(
                .malformedRequest, "\(name) holds a control, format or direction character, which nobody would see.")
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
