import Domain

extension AAMVACard {
    /// Statements of a barcode that are not a property of the card, but may contradict one.
    struct Statements: Sendable, Equatable {
        /// Whether an element that identifies the holder occurs twice with two values.
        let hasTwoValues: Bool
        /// Whether the whole name of the first edition (DAA) has another family name than DCS.
        let hasTwoNames: Bool
        /// Whether the day of issue cannot be read.
        let isIssueUnreadable: Bool
        /// Whether the sex has a code that the standard does not have.
        let isSexUnreadable: Bool
        /// Whether an element has a code that is not in ``ElementCodes``.
        let hasUnknownCode: Bool
        /// Whether the stated height or weight is impossible for a person.
        let isMeasureImpossible: Bool
        /// Whether a name has invisible characters.
        let hasInvisibleLetters: Bool
        /// The days on which the holder becomes 18, 19 and 21.
        let birthdays: [Int: CalendarDate]
        /// When the card's design was revised.
        let revisedOn: CalendarDate?
        /// Whether the holder may drive a class of vehicles.
        let isForDriving: Bool
        /// Whether the subfiles in the header differ from those in the text.
        let hasOtherSubfiles: Bool
        /// Whether a subfile belongs to a jurisdiction other than the issuer.
        let hasSubfileOfAnother: Bool

        init(_ values: inout AAMVAValues, _ card: IdentityCard, _ header: AAMVAHeader, _ elements: AAMVAElements) {
            hasTwoValues = values.hasTwoValues()
            hasTwoNames = Self.areTwo(whole: values.code(ElementID("DAA")), family: values.code(ElementID("DCS")))
            isIssueUnreadable = card.issuedOn == nil && values.text(ElementID("DBD")) != nil
            isSexUnreadable = card.sex == nil && values.text(ElementID("DBC")) != nil
            hasUnknownCode = ElementCodes.haveUnknown(values)
            isMeasureImpossible = Self.isMeasureImpossible(values)
            hasInvisibleLetters = values.hasInvisibleLetters()
            var birthdays: [Int: CalendarDate] = [:]
            for (age, id) in [(18, ElementID("DDH")), (19, ElementID("DDI")), (21, ElementID("DDJ"))] {
                birthdays[age] = values.day(of: id)
            }
            self.birthdays = birthdays
            revisedOn = values.day(of: ElementID("DDB"))
            let classes = [values.code(ElementID("DCA")), values.code(ElementID("DAR"))]
            isForDriving = card.kind == .licence && classes.contains { $0 != nil }
            hasOtherSubfiles = Self.announcesOthers(header, elements)
            hasSubfileOfAnother = Self.hasSubfileOfAnother(header, elements)
        }

        /// Compared only if commas divide the whole name. Either name may be cut.
        private static func areTwo(whole: String?, family: String?) -> Bool {
            guard let whole, whole.contains(","), let first = whole.split(separator: ",").first, let family else {
                return false
            }
            let (one, other) = (NameFolding.folded(String(first)), NameFolding.folded(family))
            guard !one.isEmpty, !other.isEmpty else { return false }
            return !one.hasPrefix(other) && !other.hasPrefix(one)
        }

        /// Adults have been 54 to 272 cm tall (21 to 107 inches), with weights of 20 to 998 pounds (9 to 453 kg). Zeros
        /// mean nothing, and a height without one of the standard's units is ignored.
        private static func isMeasureImpossible(_ values: AAMVAValues) -> Bool {
            func isOutside(_ possible: ClosedRange<Int>, _ id: ElementID, unit: String) -> Bool {
                guard let text = values.code(id) else { return false }
                let digits = text.prefix { $0.isASCII && $0.isNumber }
                guard AAMVAValues.withoutBlanksAround(text.dropFirst(digits.count)) == unit,
                    let measure = Int(digits), measure > 0
                else { return false }
                return !possible.contains(measure)
            }
            return isOutside(54...272, ElementID("DAU"), unit: "CM")
                || isOutside(21...107, ElementID("DAU"), unit: "IN")
                || isOutside(20...998, ElementID("DAW"), unit: "") || isOutside(9...453, ElementID("DAX"), unit: "")
        }

        /// Many offsets and lengths are wrong, and some headers have one subfile too many in their number. But no
        /// PDF417 symbol has as many characters as some headers state, two subfiles are never lost, and a licence
        /// differs from an identity card.
        private static func announcesOthers(_ header: AAMVAHeader, _ elements: AAMVAElements) -> Bool {
            func kinds(_ types: [SubfileType]) -> Set<SubfileType> {
                Set(types.filter(\.isPrimary).map { $0 == .enhanced ? .drivingLicence : $0 })
            }
            let (announced, present) = (kinds(header.designators.map(\.type)), kinds(elements.all.map(\.subfile)))
            let isOtherKind = !announced.isEmpty && !present.isEmpty && announced.isDisjoint(with: present)
            let areMore = (header.entryCount ?? 0) >= header.designators.count + 2
            let isBeyond = header.designators.contains {
                max($0.offset ?? 0, $0.length ?? 0) > AAMVACard.longestSymbol
            }
            return isOtherKind || areMore || isBeyond
        }

        /// A jurisdiction's subfile is `Z` and its first letter, or any of the Commonwealth of the Northern Mariana
        /// Islands. `ZZ` may hold a credential.
        private static func hasSubfileOfAnother(_ header: AAMVAHeader, _ elements: AAMVAElements) -> Bool {
            guard let code = header.issuerNumber.flatMap({ Issuer.of(number: $0) })?.jurisdiction?.code else {
                return false
            }
            let letters = code == "MP" ? "MCN" : code.prefix(1)
            let types = Set(header.designators.map(\.type) + elements.all.map(\.subfile))
            return types.contains { type in
                type.isJurisdictionSpecific && type.text != "ZZ" && !letters.contains(type.text.suffix(1))
            }
        }
    }

    /// The characters of the largest PDF417 symbol (ISO/IEC 15438).
    private static let longestSymbol = 1850
}
