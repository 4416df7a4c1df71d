import Domain
import Encoding

/// The invented persons of published specimens: examples of the standards, and sample cards that states show. Their
/// names and birthdays are known to everybody, so a card of theirs is somebody's exercise. Only digests are here.
enum PublishedSpecimen {
    /// Whether a card's holder is such a person, whatever its number and other dates.
    static func isOne(_ card: IdentityCard) -> Bool {
        guard let birth = card.dateOfBirth, let family = card.name.family,
            let given = card.name.given?.split(whereSeparator: { $0 == " " || $0 == "-" }).first
        else { return false }
        let person = "\(NameFolding.folded(family)) \(NameFolding.folded(String(given))) \(birth.text)"
        return digests.contains(Digest256.of(person).base64URL)
    }

    /// SHA-256 of folded family name, first given name and birthday, by publisher.
    private static let digests: Set<String> = [
        // AAMVA, 2009 to 2020.
        "YEuJG2RNAPQEsXZ3rwSIO5r5WP_26UTOFIDcyu5NApE",
        // AAMVA, 2000.
        "9AWKcILlKD-pz7AMz_OBYBHchLKGvsap3hyaFw91HQY",
        // ICAO 9303 parts 4 to 6, this edition and the one before.
        "nGlxFHgCqh-OBUFmlrKSrdpZRkf87HNR1-oKinXBm7o",
        "rjQWb5EMKgTcgi5x3hi1A7EtyttokkVxWyymDbVfvm4",
        "2iK5WZkSyUdO5Z3g5vezwQ1XhtLlfzd_pzy2M62xQ78",
        // Germany.
        "3S5QSEmBEiuE1DbqQtJ9Z-KSFRzBflo2sCFlwnBmdQc",
        "5AVYUSTbww3cn5f_sf333pFd1Yn7H-uOGtTv_Wd_DXw",
        "GGZrYtBTmpLt9k1Z0NRy3YE5tEDgDQ3KAMygLFbkGiY",
        // The Netherlands.
        "X59tnJOgAZ9RJngKlKZaGkHm2no9oJWI837m4hLx3uc",
        // The United Kingdom.
        "xzekVF3u8JKL5IsjYl00N6qnDCEpAWBEZRdWy2ZcfIg",
        "Ef8e7ANl9OermZEAu9PC5OoohRzLJ8yMuwrgqa27WQE",
        // Canada.
        "8_gw0PTl5lV-un4lD2HZSFZZQMBDi-osSoiuamdtbbo",
        // Spain.
        "khoN1JrCuT5YrAZkruU2IO6Hr-aNr_XHug0bd3dcJOg",
        // France.
        "5pmPe-DdJauh4pVaOIVTbn5FvQijzsqyTRCB_iP_QTQ",
        "5bCagH4oA0dCeNM7yrAqEsNn-ZMKKLLYHcDST0d_8SQ",
        // Estonia.
        "nkgiS5OgW_u1PL1ZctucgcVS1-ZBLQI3_Nq5cRHNcR0",
        // Pennsylvania.
        "4NnPr7Gnyxc3fhws1uPOjse09Kc54nJK2hm5BjmHcZU",
    ]
}
