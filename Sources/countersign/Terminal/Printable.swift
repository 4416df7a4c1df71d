import Domain

/// Makes JSON safe to show at a terminal or in a log, as `PlainText` does for text. Providers, users and admins may
/// write characters that move the cursor, reverse the line or are invisible.
enum Printable {
    /// JSON text with such characters as JSON escapes (RFC 8259 §7), so that the value stays the same. Below U+0020
    /// there is only white space between values, because strings have escapes already.
    static func json(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x7F }) { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            guard scalar.value >= 0x20, PlainText.isInvisible(scalar) else {
                shown.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                shown.append(contentsOf: ("\\u" + String(0x10000 + Int(unit), radix: 16).dropFirst()).unicodeScalars)
            }
        }
        return String(shown)
    }
}
