/// The barcode of an invented driver's licence by the AAMVA standard (version 10), which the tour's user shows.
struct TourCard {
    /// The document number, `T` and eight digits.
    let number: String
    /// The holder's family name, in capitals.
    let family: String

    /// A card with a random number and name.
    init() {
        number = "T" + String(Int.random(in: 10_000_000...99_999_999))
        family = "TOUR" + String((0..<8).map { _ in "BCDFGHKLMNPRSTVW".randomElement() ?? "X" })
    }

    /// The text of the barcode.
    var barcode: String {
        let elements = [
            "DAQ" + number, "DCS" + family, "DDEN", "DACMICHAEL", "DDFN", "DADJOHN", "DDGN", "DCAD", "DCBK", "DCDPH",
            "DBD06062024", "DBB06061986", "DBA12102099", "DBC1", "DAU068 in", "DAYBRO", "DAG2300 WEST BROAD STREET",
            "DAIRICHMOND", "DAJVA", "DAK232690000", "DCF2424244747474786102204", "DCGUSA", "DDAF", "DDB06062024",
            "DDD0",
            "DDK1", "DDL1",
        ]
        let licence = "DL" + elements.joined(separator: "\n") + "\r"
        let jurisdictional = "ZVZVA01\r"
        let type = "@\n\u{1E}\rANSI 636000100002"
        let begin = type.utf8.count + 20
        return type + "DL" + Self.digits(begin) + Self.digits(licence.utf8.count)
            + "ZV" + Self.digits(begin + licence.utf8.count) + Self.digits(jurisdictional.utf8.count)
            + licence + jurisdictional
    }

    /// Offsets and lengths have four digits.
    private static func digits(_ number: Int) -> String { String(String(10_000 + number).dropFirst()) }
}
