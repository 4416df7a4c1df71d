/// An edition of the AAMVA card design standard, by the version number in the header.
///
/// The requirements of each edition come from public implementations, not from the standard's text.
struct AAMVAVersion: Sendable, Equatable {
    /// 1 (2000) to 10 (2020); 11 and 12 for later editions, including that of 2025.
    let number: Int

    /// The highest number known here.
    static let latest = 12

    /// A known version; `nil` for any other number.
    init?(_ number: Int) {
        guard (1...Self.latest).contains(number) else { return nil }
        self.number = number
    }

    /// Guesses the version from the card's name elements, for a header without a usable number.
    init(guessedFrom elements: AAMVAElements) {
        if elements.contains(ElementID("DCT")) {
            number = 3
        } else if elements.contains(ElementID("DAA")), !elements.contains(ElementID("DCS")) {
            number = 1
        } else {
            number = 10
        }
    }

    /// The year of the edition.
    var year: Int {
        switch number {
        case 1: 2000
        case 2: 2003
        case 3: 2005
        case 4: 2009
        case 5: 2010
        case 6: 2011
        case 7: 2012
        case 8: 2013
        case 9: 2016
        case 10: 2020
        default: 2025
        }
    }

    /// Whether the header has a jurisdiction version: in all editions but the first.
    var hasJurisdictionVersion: Bool { number > 1 }

    /// How a version writes a name.
    enum NameForm {
        /// DAA: family, first and further names and suffix in one element, comma-separated.
        case whole
        /// DCS, and DCT for all given names.
        case givenTogether
        /// DCS, DAC and DAD, with truncation flags.
        case apart
    }

    /// How this version writes a name.
    var nameForm: NameForm {
        switch number {
        case 1: .whole
        case 2, 3: .givenTogether
        default: .apart
        }
    }

    /// The elements of its names.
    var nameElements: [String] {
        switch nameForm {
        case .whole: ["DAA"]
        case .givenTogether: ["DCS", "DCT"]
        case .apart: ["DCS", "DAC"]
        }
    }

    /// The elements that can contain the number: Arizona's cards of the first edition have it in DBJ.
    var numberElements: [ElementID] { number == 1 ? [Self.id("DAQ"), Self.id("DBJ")] : [Self.id("DAQ")] }

    /// The elements without which a card of any version is invalid, apart from names: number, birthday and expiry, each
    /// with its possible substitute.
    var requiredElements: [[ElementID]] { [numberElements, [Self.id("DBA")], [Self.id("DBB")]] }

    /// Elements that the standard requires to be non-empty, each with its possible substitute. Some states leave some
    /// of them empty, so this is only reported.
    var identifyingElements: [[ElementID]] { number == 1 ? Self.identifying2000 : Self.identifying2003 }

    /// Further mandatory elements, of body and vehicles, which may be empty.
    func descriptiveElements(forDriving: Bool) -> [ElementID] {
        let vehicles = number == 1 ? Self.vehicles2000 : Self.vehicles2003
        let body = number == 1 ? [] : Self.body2003
        let flags = number < 4 ? [] : Self.flags2009
        return (forDriving ? vehicles : []) + body + flags
    }

    private static let identifying2000 =
        [("DAG", "DAL"), ("DAI", "DAN"), ("DAJ", "DAO"), ("DAK", "DAP")].map { [id($0), id($1)] }
        + ["DAQ", "DBA", "DBB", "DBC", "DBD"].map { [id($0)] }
    private static let identifying2003 = identifying2000 + ["DCF", "DCG"].map { [id($0)] }
    private static let vehicles2000 = ["DAR", "DAS", "DAT"].map(id)
    private static let vehicles2003 = ["DCA", "DCB", "DCD"].map(id)
    private static let body2003 = ["DAU", "DAY"].map(id)
    private static let flags2009 = ["DAD", "DDE", "DDF", "DDG"].map(id)

    private static func id(_ name: StaticString) -> ElementID { ElementID(name) }
}
