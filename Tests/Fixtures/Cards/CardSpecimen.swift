import Cards
import Domain
import Foundation

/// Writes the barcodes of invented people's cards: any version, any jurisdiction, as the standard says or with the
/// deviations that real cards show. The values are those of the standard's own example, Michael John Sample, with
/// another birthday and number: his own card would wait for a reviewer.
package struct CardSpecimen: Sendable {
    /// 1 to 10, or 11 for the edition of 2025.
    package var version = 10
    package var jurisdiction: Jurisdiction
    /// `DL`, `ID` or `EN`.
    package var subfile = "DL"
    package var family = "SAMPLE"
    package var given = "MICHAEL"
    package var middle = "JOHN"
    package var suffix = "JR"
    package var birth = Self.day(1986, 6, 16)
    package var issue = Self.day(2024, 6, 6)
    package var expiry = Self.day(2032, 12, 10)
    package var street = "2300 WEST BROAD STREET"
    package var city = "RICHMOND"
    package var postalCode: String
    /// As the issuer forms it, unless it is set.
    package var number: String {
        get {
            chosenNumber
                ?? IssuerNumberRule.fitting(
                    Self.number(jurisdiction), of: jurisdiction.code, family: family, birth: birth, sex: .male)
        }
        set { chosenNumber = newValue }
    }
    private var chosenNumber: String?
    /// The text of the issuer's credential in subfile `ZZ`; `nil` for a card without that subfile.
    package var credential: String?
    /// Elements that are left out.
    package var omitted: Set<String> = []
    /// Elements whose value is another one.
    package var replaced: [String: String] = [:]
    /// How it departs from the standard.
    package var deviations: Set<Deviation> = []

    package enum Deviation: String, CaseIterable, Sendable {
        case fileTypeAAMVA, fileTypeAMVA, missingEntryCount, wrongOffsets, wrongLengths, missingOffsetsAndLengths
        case barSeparator, carriageReturnLineFeed, byteOrderMark, trailingCommas, missingLeadingZeros, otherDateOrder
        case noneForNothing, numberFirst, lineFeedAfterType, missingFinalReturn, wrongIssuerNumber, blanksAtEnds
        case missingComplianceIndicator
    }

    /// A card of a jurisdiction, by its two letters.
    package init?(_ code: String, version: Int = 10) {
        guard let jurisdiction = Jurisdiction.of(code: code) else { return nil }
        self.jurisdiction = jurisdiction
        self.version = version
        if code == "VA" { chosenNumber = "T64225789" }
        // No card is older than its edition.
        if version > 10 { issue = Self.day(2025, 6, 6) }
        postalCode = code == "VA" ? "232690000" : Self.postalCode(jurisdiction)
    }

    /// A document number of a jurisdiction's first form, at its greatest length.
    private static func number(_ jurisdiction: Jurisdiction) -> String {
        let number = jurisdiction.numberForm.enumerated().map { place, kind -> Character in
            kind == "D" ? Array("1234567890")[place % 10] : Array("SPECIMNT")[place % 8]
        }
        return number.isEmpty ? "4235789" : String(number)
    }

    private static func postalCode(_ jurisdiction: Jurisdiction) -> String {
        jurisdiction.postalStart + (jurisdiction.country == "CAN" ? "1A0B1" : "690000")
    }

    /// A day that is known to exist.
    package static func day(_ year: Int, _ month: Int, _ day: Int) -> CalendarDate {
        CalendarDate(year: year, month: month, day: day) ?? CalendarDate(utcDayOf: .distantPast)
    }

    /// The barcode's bytes.
    package var bytes: [UInt8] { Array(text.utf8) }

    package var text: String {
        let lineFeed =
            deviations.contains(.barSeparator) ? "|" : deviations.contains(.carriageReturnLineFeed) ? "\r\n" : "\n"
        let end = deviations.contains(.missingFinalReturn) ? lineFeed : "\r"
        let type = subfile + (deviations.contains(.lineFeedAfterType) ? lineFeed : "")
        let primary =
            type + elements.map { element(id: $0, value: $1) }.joined(separator: lineFeed)
            + (deviations.contains(.carriageReturnLineFeed) ? "\r\n" : end)
        var subfiles = [(subfile, primary), (jurisdictionType, jurisdictionType + jurisdictionType + "A01" + end)]
        if let credential { subfiles.append(("ZZ", "ZZZZA" + credential + end)) }
        return header(subfiles) + subfiles.map(\.1).joined()
    }

    private var jurisdictionType: String { "Z" + jurisdiction.code.prefix(1) }

    private func element(id: String, value: String) -> String {
        let comma = deviations.contains(.trailingCommas) && ["DCS", "DAC", "DCT", "DAI"].contains(id) ? "," : ""
        return id + value + comma + (deviations.contains(.blanksAtEnds) ? "  " : "")
    }

    private func header(_ subfiles: [(type: String, text: String)]) -> String {
        var header = deviations.contains(.missingComplianceIndicator) ? "" : "@\n\u{1E}\r"
        header +=
            deviations.contains(.fileTypeAAMVA) ? "AAMVA" : deviations.contains(.fileTypeAMVA) ? "AMVA " : "ANSI "
        header += String(deviations.contains(.wrongIssuerNumber) ? 999_999 : jurisdiction.issuerNumber)
        header += Self.digits(version, 2) + (version == 1 ? "" : "00")
        header += deviations.contains(.missingEntryCount) ? "" : Self.digits(subfiles.count, 2)
        let bare = deviations.contains(.missingOffsetsAndLengths)
        var offset =
            header.utf8.count + subfiles.count * (bare ? 2 : 10) + (deviations.contains(.wrongOffsets) ? 7 : 0)
        let wrong = deviations.contains(.wrongLengths) ? 5 : 0
        for (type, text) in subfiles {
            header += type + (bare ? "" : Self.digits(offset, 4) + Self.digits(text.utf8.count + wrong, 4))
            offset += text.utf8.count
        }
        return (deviations.contains(.byteOrderMark) ? "\u{FEFF}" : "") + header
    }

    private static func digits(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }

    /// A date in the version's and country's order.
    func date(_ day: CalendarDate) -> String {
        let isYearFirst = (version == 1 || jurisdiction.country == "CAN") != deviations.contains(.otherDateOrder)
        let parts = (
            Self.digits(day.year, 4), Self.digits(day.month, 2), Self.digits(day.day, 2)
        )
        let text = isYearFirst ? parts.0 + parts.1 + parts.2 : parts.1 + parts.2 + parts.0
        guard deviations.contains(.missingLeadingZeros) else { return text }
        return isYearFirst ? "\(day.year)-\(day.month)-\(day.day)" : String(text.drop { $0 == "0" })
    }

    private var elements: [(String, String)] {
        let none = deviations.contains(.noneForNothing)
        let (middle, suffix) = (middle.isEmpty && none ? "NONE" : middle, suffix.isEmpty && none ? "NONE" : suffix)
        var list = names(middle: middle, suffix: suffix)
        list += [
            ("DBD", date(issue)), ("DBB", date(birth)), ("DBA", date(expiry)), ("DBC", "1"), ("DAU", "068 in"),
            ("DAY", "BRO"), ("DAG", street), ("DAI", city), ("DAJ", jurisdiction.code), ("DAK", postalCode),
        ]
        if subfile != "ID" {
            list +=
                version == 1
                ? [("DAR", "D"), ("DAS", "NONE"), ("DAT", "NONE")]
                : [("DCA", "D"), ("DCB", "K"), ("DCD", "PH")]
        }
        if version > 1 { list += [("DCF", "2424244747474786102204"), ("DCG", jurisdiction.country)] }
        if version >= 4 { list += [("DDA", "F"), ("DDB", date(issue)), ("DDD", "0")] }
        if version >= 10 { list += [("DDK", "1"), ("DDL", "1")] }
        if version >= 11 { list += [("DDM", "N"), ("DDN", "N"), ("DDO", "N")] }
        let isFirst = deviations.contains(.numberFirst) || version >= 8
        list.insert(("DAQ", number), at: isFirst ? 0 : 1)
        return list.filter { !omitted.contains($0.0) }.map { ($0.0, replaced[$0.0] ?? $0.1) }
    }

    private func names(middle: String, suffix: String) -> [(String, String)] {
        switch version {
        case 1: [("DAA", [family, given, middle, suffix].joined(separator: ","))]
        case 2, 3:
            [("DCS", family), ("DCT", middle.isEmpty ? given : "\(given),\(middle)")]
                + (suffix.isEmpty ? [] : [("DCU", suffix)])
        default:
            [
                ("DCS", family), ("DDE", "N"), ("DAC", given), ("DDF", "N"), ("DAD", middle), ("DDG", "N"),
            ] + (suffix.isEmpty ? [] : [("DCU", suffix)])
        }
    }
}
