import Domain
import Encoding

/// The invented persons of published specimens: examples of the standards, and sample cards that states show. Their
/// names, birthdays and numbers are public, so a card with them is an exercise. Only digests are stored here.
///
/// The person of ICAO's own examples is listed with the birthday only, because developers use it with other birthdays
/// for tests.
enum PublishedSpecimen {
    /// Whether a card's holder is such a person: by name and birthday, whatever the number, or by name and number,
    /// whatever the birthday.
    static func isOne(_ card: IdentityCard) -> Bool {
        guard let family = card.name.family,
            let given = card.name.given?.split(whereSeparator: { $0 == " " || $0 == "-" }).first
        else { return false }
        let name = "\(NameFolding.folded(family)) \(NameFolding.folded(String(given)))"
        func isListed(_ datum: String, in digests: Set<String>) -> Bool {
            digests.contains(Digest256.of("\(name) \(datum)").base64URL)
        }
        return isListed(card.normalisedNumber, in: numbers)
            || (card.dateOfBirth.map { isListed($0.text, in: birthdays) } ?? false)
    }

    /// SHA-256 of folded family name, first given name and birthday, by publisher.
    private static let birthdays: Set<String> = [
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
        // California, and the example of many readers of barcodes.
        "jMYGYtNIQockLx8-cbGjLT9cLyeJdRnjwhvmXRjRby8",
        "Bb-Y3naJi3VChC-Ctb3HH_LhwtJfOoVVvdRVp_dqo5k",
    ]

    /// SHA-256 of folded family name, first given name and document number, by publisher.
    private static let numbers: Set<String> = [
        // AAMVA, 2009 to 2020.
        "IszWep2ODEiIU0BMl2rk7W351kARJF3FTic5uocpT3w",
        // California, and the example of many readers of barcodes.
        "mDFFozRSwWBPJjg_sDiZwBDRMunG3Y6CPlO36-s0DkM",
        "zI3EYT3-cD_jGV4oRSRqr1svNyh-8w_eEew2M-Q1NWY",
        "Y5E_8kyhO9gDEZqZTx42Gz9pSsbo4566el_MWAuX_g0",
        // Germany.
        "tPstGEBT7dsUT54z4pgQhM3UT2pM4t04u-Dff1NnTIY",
        "3e6Zb5s0dQzr94yjCi44OGrFXRmskKCfg2wuR0DfyMA",
        // The Netherlands.
        "H-jZUVrpGzkjduXyPDpkkby0JoPQCgpByh2Taw68E3Q",
        // The United Kingdom.
        "reXjltMmgZsNBZk7JrVZnbw99w1c8zd4gQoKQQ7oovI",
        // Spain.
        "xUe654Qf8tbbT31f2fBkgBkjLtcnVJatpCHfJc1fd6g",
        // France.
        "_9E26e9GnvTTflNftQnUFKNkW7JXUFvw8PVO37xHG9k",
        // Estonia.
        "NynXzBwp-dSQ89ewYUkMbTohVUnUnt79M5RPACNHsDk",
    ]
}
