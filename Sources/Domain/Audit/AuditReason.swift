/// Why something was done: a code or the number of a ticket, such as `user_request` or `ticket:4711`. The audit log
/// keeps it for years.
///
/// It has no spaces and no long runs of digits, so no sentence, telephone number or document number fits. Remarks about
/// a person must be stored where they are encrypted and can be erased.
package struct AuditReason: Sendable, Equatable, ExpressibleByStringLiteral {
    package let text: String

    /// The longest code, in characters.
    static let maximumLength = 64
    /// The longest run of digits.
    static let maximumDigits = 6

    /// Parses 1 to 64 ASCII letters, digits and `- _ . : / #`, at most six digits in a row; `nil` for anything else.
    package init?(_ text: String) {
        var digits = 0
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                digits += 1
                guard digits <= Self.maximumDigits else { return nil }
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "#"):
                digits = 0
            // Separators within a number do not end the run of digits.
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"): break
            default: return nil
            }
        }
        guard (1...Self.maximumLength).contains(text.utf8.count) else { return nil }
        self.text = text
    }

    /// For constants in the source; the text must be valid.
    package init(stringLiteral text: StaticString) {
        self.text = text.description
    }
}
