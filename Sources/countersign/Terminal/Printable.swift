/// Makes text safe to show at a terminal or in a log. All output passes through here, because providers, users and
/// admins may write characters that move the cursor, reverse the line or are invisible.
enum Printable {
    /// A text for people. Such characters become `\u{202E}` and the like; a line feed and a tab become `\n` and `\t`.
    ///
    /// - Parameter kept: characters that stay, such as the line feeds of a message of several lines.
    static func text(_ text: String, keeping kept: Set<Unicode.Scalar> = []) -> String {
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isHidden(scalar), !kept.contains(scalar) {
                shown.append(contentsOf: escape(scalar).unicodeScalars)
            } else {
                shown.append(scalar)
            }
        }
        return String(shown)
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": "\\n"
        case "\t": "\\t"
        default: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        }
    }

    /// JSON text with such characters as JSON escapes (RFC 8259 §7), so that the value stays the same. Below U+0020
    /// there is only white space between values, because strings have escapes already.
    static func json(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x7F }) { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            guard scalar.value >= 0x20, isHidden(scalar) else {
                shown.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                shown.append(contentsOf: ("\\u" + String(0x10000 + Int(unit), radix: 16).dropFirst()).unicodeScalars)
            }
        }
        return String(shown)
    }

    /// Controls (C0, DEL and C1), format characters (including those of direction), line and paragraph separators,
    /// and default ignorable code points.
    static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}
