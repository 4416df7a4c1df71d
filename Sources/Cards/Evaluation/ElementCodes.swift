/// The codes of elements with few codes: those of the AAMVA standard, and of ANSI D-20 for colours. Many issuers write
/// colours as words or in their own codes, so each beginning of a word is a code too.
enum ElementCodes {
    /// Whether an element has a value that is not among its codes.
    static func haveUnknown(_ values: AAMVAValues) -> Bool {
        all.contains { id, known in values.code(id).map { !known.contains($0) } ?? false }
            || colours.contains { id in values.code(id).map { !isColour($0) } ?? false }
    }

    /// Whether names are cut, and whether the card complies with REAL ID. The code for material compliance was used
    /// until 2012.
    private static let all: [ElementID: Set<String>] = [
        ElementID("DDE"): ["T", "N", "U"], ElementID("DDF"): ["T", "N", "U"], ElementID("DDG"): ["T", "N", "U"],
        ElementID("DDA"): ["F", "N", "M"],
    ]

    /// The colours of eyes and hair.
    private static let colours = [ElementID("DAY"), ElementID("DAZ")]

    /// Only letters are compared: some issuers number the colours.
    private static func isColour(_ value: String) -> Bool {
        guard value.utf8.allSatisfy(\.isCapital) else { return true }
        return colourCodes.contains(value) || colourWords.contains { $0.hasPrefix(value) }
    }

    private static let colourCodes: Set<String> = [
        "BK", "GN", "GY", "HZ", "RD", "BLK", "BLN", "BLD", "BRN", "BRW", "GRN", "GRY", "HZL", "MRN", "MUL", "PNK",
        "SDY", "XXX",
    ]

    /// Colours in English, and in French and Spanish for Canada, Puerto Rico and Mexico.
    private static let colourWords = """
        AMBER AUBURN BALD BLACK BLONDE BLUE BROWN DICHROMATIC GRAY GREEN GREY HAZEL MAROON MULTICOLOURED OTHER PINK RED \
        SANDY UNKNOWN WHITE BLANC BLEU BRUN CHATAIN CHAUVE GRIS MARRON NOIR NOISETTE ROUX VERT AVELLANA AZUL BLANCO \
        CAFE CALVO CASTANO NEGRO ROJO RUBIO VERDE
        """.split(separator: " ").map(String.init)
}
