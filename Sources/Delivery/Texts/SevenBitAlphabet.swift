/// The alphabet of SMS texts (3GPP TS 23.038 §6.2.1), with 7 bits a character. One character outside it makes the
/// whole text UCS-2, with 16 bits each.
enum SevenBitAlphabet {
    /// §6.2.1, in the order of the table without its escape (0x1B).
    private static let characters = Set(
        """
        @£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&'()*+,-./0123456789:;<=>?\
        ¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà
        """.unicodeScalars)
    /// Characters of two septets each (§6.2.1.1).
    private static let extended = Set("\u{0C}^{}\\[~]|€".unicodeScalars)

    /// The number of septets of a text; `nil` if the alphabet lacks one of its characters.
    static func septets(_ text: String) -> Int? {
        var count = 0
        for character in text.unicodeScalars {
            if characters.contains(character) {
                count += 1
            } else if extended.contains(character) {
                count += 2
            } else {
                return nil
            }
        }
        return count
    }
}
