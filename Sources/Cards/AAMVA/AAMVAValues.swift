import Domain

/// The texts of an AAMVA card's elements, without what barcode readers and careless issuers add.
struct AAMVAValues {
    private let bytes: [UInt8]
    private let elements: AAMVAElements
    var conformance: AAMVAConformance

    init(_ bytes: [UInt8], elements: AAMVAElements, conformance: AAMVAConformance) {
        self.bytes = bytes
        self.elements = elements
        self.conformance = conformance
    }

    /// Whether an element is present and not empty.
    func isPresent(_ id: ElementID) -> Bool { elements.first(id).map { !$0.value.isEmpty } ?? false }

    /// Whether an element is present, empty or not.
    func contains(_ id: ElementID) -> Bool { elements.contains(id) }

    /// The first value among some elements. The standard's placeholders for "nothing" are not values.
    mutating func text(_ ids: ElementID...) -> String? { text(firstOf: ids) }

    /// Like ``text(_:)``, for an array of ids.
    mutating func text(firstOf ids: [ElementID]) -> String? {
        for id in ids {
            if let text = text(of: id) { return text }
        }
        return nil
    }

    /// The bytes of an element, without trailing commas.
    mutating func value(of id: ElementID) -> ArraySlice<UInt8>? {
        guard let element = elements.first(id) else { return nil }
        var value = bytes[element.value]
        while let last = value.last, last == UInt8(ascii: ",") || last <= 0x20 { value.removeLast() }
        while let first = value.first, first <= 0x20 { value.removeFirst() }
        // Version 01 separates names by commas. A trailing comma means parts that a holder does not have.
        if value.endIndex != element.value.upperBound, id != Self.wholeName {
            conformance.note(.trailingComma, id.text)
        }
        return value
    }

    /// The date of an element.
    mutating func date(_ id: ElementID, expecting order: AAMVADate.Order) -> CalendarDate? {
        read(id, expecting: order)?.day
    }

    /// A birthday, and whether it is stated in full.
    mutating func birth(_ id: ElementID, expecting order: AAMVADate.Order) -> (day: CalendarDate?, isInFull: Bool) {
        let date = read(id, expecting: order)
        return (date?.day ?? date?.latestDay, date?.day != nil || date?.latestDay == nil)
    }

    private mutating func read(_ id: ElementID, expecting order: AAMVADate.Order) -> AAMVADate? {
        guard let value = value(of: id), !value.isEmpty, !Self.meansNothing(value) else { return nil }
        let date = AAMVADate(value)
        if date.day == nil {
            conformance.note(.dateUnreadable, id.text)
        } else {
            if date.order != order { conformance.note(.dateOrder, id.text) }
            if !date.isEightDigits { conformance.note(.dateZeros, id.text) }
        }
        return date
    }

    /// The last day of validity. Only nines, or a word, mean that the card does not expire.
    mutating func expiry(_ id: ElementID, expecting order: AAMVADate.Order) -> CalendarDate? {
        guard let value = value(of: id) else { return nil }
        let isNever =
            Self.neverWords.contains { Self.isWord($0, value) }
            || (value.count >= 6 && value.allSatisfy { $0 == UInt8(ascii: "9") })
        return isNever ? .never : date(id, expecting: order)
    }

    /// The day of an element; `nil` if it is not a date. Records no departure.
    func day(of id: ElementID) -> CalendarDate? {
        elements.first(id).flatMap { AAMVADate(bytes[$0.value]).day }
    }

    /// The code of an element, in capitals; `nil` if it is empty or means nothing. Records no departure.
    func code(_ id: ElementID) -> String? {
        guard let element = elements.first(id) else { return nil }
        var value = bytes[element.value]
        while id != Self.wholeName, let last = value.last, last == UInt8(ascii: ",") || last <= 0x20 {
            value.removeLast()
        }
        guard !Self.meansNothing(value) else { return nil }
        let text = Self.printable(Self.decode(value).text).uppercased()
        return text.isEmpty ? nil : text
    }

    /// Whether a name contains invisible characters that ISO/IEC 8859-1 does not have.
    func hasInvisibleLetters() -> Bool {
        elements.all.contains { element in
            switch element.id.property {
            case .name, .familyName, .givenName, .middleName:
                Self.decode(bytes[element.value]).text.unicodeScalars.contains {
                    PlainText.isInvisible($0) && $0.value > 0xFF
                }
            default: false
            }
        }
    }

    /// Whether an element of ``ElementID/saysWho`` has two values, in one subfile or in two. A placeholder for
    /// "nothing" is not a value. Case, marks and blanks are ignored.
    func hasTwoValues() -> Bool {
        func folded(_ value: ArraySlice<UInt8>) -> String { NameFolding.folded(Self.decode(value).text) }
        var known: [ElementID: ArraySlice<UInt8>] = [:]
        for element in elements.all where element.id.saysWho {
            let value = bytes[element.value]
            guard !value.isEmpty, !Self.meansNothing(value) else { continue }
            // Folding takes long, and most elements occur once.
            guard let former = known[element.id] else {
                known[element.id] = value
                continue
            }
            guard !former.elementsEqual(value) else { continue }
            let (one, other) = (folded(former), folded(value))
            if one.isEmpty { known[element.id] = value }
            if !one.isEmpty, !other.isEmpty, one != other { return true }
        }
        return false
    }

    /// All elements with their raw values.
    mutating func fields() -> [CardField] {
        elements.all.map { element in
            CardField(
                element: element.id.text, raw: Self.decode(bytes[element.value]).text, subfile: element.subfile.text,
                property: element.id.property)
        }
    }

    private static let wholeName = ElementID("DAA")

    private mutating func text(of id: ElementID) -> String? {
        guard let value = value(of: id), !value.isEmpty, !Self.meansNothing(value) else { return nil }
        let (text, isForeign) = Self.decode(value)
        if isForeign { conformance.note(.characterSet, id.text) }
        guard isForeign || value.contains(where: { $0 < 0x20 || $0 >= 0x7F }) else { return text }
        let cleaned = Self.printable(text)
        if cleaned.unicodeScalars.count != text.unicodeScalars.count { conformance.note(.characterSet, id.text) }
        return cleaned.isEmpty ? nil : cleaned
    }

    /// A text without surrounding blanks, invisible characters, and characters that change how others are shown.
    static func printable(_ text: String) -> String {
        let printable = text.unicodeScalars.compactMap { scalar -> Unicode.Scalar? in
            if PlainText.isInvisible(scalar) { return nil }
            return switch scalar.properties.generalCategory {
            case .privateUse, .unassigned: nil
            case .spaceSeparator: " "
            default: scalar
            }
        }
        return withoutBlanksAround(String(String.UnicodeScalarView(printable)))
    }

    /// Decodes ISO/IEC 8859-1, which the standard requires, or UTF-8, into which some readers convert it. The form of
    /// the bytes decides.
    private static func decode(_ value: ArraySlice<UInt8>) -> (text: String, isForeign: Bool) {
        if value.allSatisfy({ $0 < 0x80 }) { return (String(decoding: value, as: UTF8.self), false) }
        if let text = String(validating: value, as: UTF8.self) { return (text, true) }
        return (String(String.UnicodeScalarView(value.map { Unicode.Scalar($0) })), false)
    }

    /// Whether a value means "nothing": the standard's NONE and UNAVL, and issuers' own words.
    private static func meansNothing(_ value: ArraySlice<UInt8>) -> Bool {
        guard value.count <= 11 else { return false }
        return nothingWords.contains { isWord($0, value) }
    }

    private static let nothingWords: [StaticString] = ["NONE", "UNAVL", "UNAVAIL", "UNAVAILABLE", "N/A"]

    /// Words for an expiry that never comes. `MIL` is on the cards of soldiers.
    private static let neverWords: [StaticString] = ["NONE", "INDEF", "INDEFINITE", "MIL", "MILITARY"]

    private static func isWord(_ word: StaticString, _ value: ArraySlice<UInt8>) -> Bool {
        word.utf8CodeUnitCount == value.count
            && zip(value, UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)).allSatisfy {
                $0.capitalised == $1
            }
    }

    /// A text without surrounding blanks.
    static func withoutBlanksAround(_ text: some StringProtocol) -> String {
        let end = text.lastIndex { $0 != " " }.map(text.index(after:)) ?? text.startIndex
        return String(text[..<end].drop { $0 == " " })
    }
}
