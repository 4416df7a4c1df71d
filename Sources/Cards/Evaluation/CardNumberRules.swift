import Domain

extension CardRule {
    static let documentNumber = CardRule(name: .documentNumber) { input in
        DocumentNumber.isOne(input.identityCard)
            ? (.passed, "The document number is plausible.")
            : (.failed, "The document number is missing, filled with a single character or not a number at all.")
    }

    static let numberFormat = CardRule(name: .numberFormat) { input in
        let card = input.identityCard
        let format: NumberFormat? =
            switch input.card {
            case .aamva, .presented: card.jurisdiction.flatMap { Jurisdiction.of(code: $0) }?.numberFormat
            // A stripe writes letters as digits, and a zone has a passport's number.
            case .stripe, .machineReadable: nil
            }
        guard let format else { return (.notApplicable, "No form of the issuer's document numbers is known.") }
        return format.admits(card.normalisedNumber)
            ? (.passed, "The document number has a form that the issuer gives out.")
            : (.failed, "The document number has none of the forms that the issuer is known to give out.")
    }

    static let numberRule = CardRule(name: .numberRule) { input in
        let findings: IssuerNumberRule.Findings? =
            switch input.card {
            case .aamva, .presented: IssuerNumberRule.findings(of: input.identityCard)
            case .stripe, .machineReadable: nil
            }
        guard let findings else {
            return (.notApplicable, "The issuer has no public rule for numbers of this form.")
        }
        return findings.hasName && findings.hasBirthday
            ? (.passed, "The document number follows from name and birthday, as the issuer's do.")
            : (.failed, "The document number does not follow from name and birthday, as the issuer's do.")
    }

    static let postalCode = CardRule(name: .postalCode) { input in
        guard let address = input.identityCard.address, let code = address.postalCode,
            let area = address.jurisdiction.flatMap({ PostalArea.of($0) })
        else { return (.notApplicable, "The card states no postal code or no known jurisdiction.") }
        guard let isInside = area.contains(code) else {
            return (.notApplicable, "The postal code has no form that is known, or no codes of the jurisdiction are.")
        }
        return isInside
            ? (.passed, "The postal code lies in the jurisdiction.")
            : (.failed, "The postal code does not lie in the jurisdiction.")
    }

    static let addressJurisdiction = CardRule(name: .addressJurisdiction) { input in
        let card = input.identityCard
        guard let issuer = card.jurisdiction, let stated = card.address?.jurisdiction else {
            return (.notApplicable, "The card states no jurisdiction of its address, or none issued it.")
        }
        if PostalArea.military[stated] != nil { return (.passed, "The address is one of the forces.") }
        return stated == issuer
            ? (.passed, "The address lies in the jurisdiction that issued the card.")
            : (.failed, "The address lies in another jurisdiction than the one that issued the card.")
    }

    static let displayName = CardRule(name: .name) { input in
        if let name = input.displayName, NameComparison(input.identityCard.name).admits(name) {
            return (.passed, "The name on the card fits the account's display name.")
        }
        if let obstacle = NameComparison.obstacle(in: input.displayName) { return (.notApplicable, obstacle.sentence) }
        return (.failed, "The name on the card is not the account's display name.")
    }

    static let otherName = CardRule(name: .otherName) { input in
        if let obstacle = NameComparison.obstacle(in: input.displayName) { return (.notApplicable, obstacle.sentence) }
        let comparison = NameComparison(input.identityCard.name)
        return comparison.sharesName(with: input.displayName ?? "")
            ? (.passed, "The card and the account's display name have a name in common.")
            : (.failed, "The card and the account's display name have no name in common.")
    }

    static let postOfficeBox = CardRule(name: .poBox) { input in
        guard let street = input.identityCard.address?.street else {
            return (.notApplicable, "The card states no street.")
        }
        let words = " " + NameFolding.words(street).joined(separator: " ") + " "
        let boxes = ["PO BOX", "P O BOX", "POBOX", "POST OFFICE BOX", "CASE POSTALE"]
        // A number may follow without a blank, but a letter may not: POBOX12, but not POBOXTON.
        let isBox = boxes.contains { box in
            words.ranges(of: " " + box).contains { !words[$0.upperBound].isLetter }
        }
        return isBox
            ? (.failed, "The address is a post office box, not a home.")
            : (.passed, "The address is not a post office box.")
    }

    static let conformance = CardRule(name: .conformance) { input in
        switch input.card {
        case .aamva(let card): conformance(of: card.conformance)
        case .stripe, .machineReadable: (.notApplicable, "Zones and the tracks of stripes have no other form.")
        case .presented: (.notApplicable, "A credential of another form is not accepted at all.")
        }
    }

    private static func conformance(of conformance: AAMVAConformance) -> Outcome {
        guard !conformance.isConformant else { return (.passed, "The text is written as the standard says.") }
        let kinds = AAMVAConformance.Kind.allCases.filter(conformance.kinds.contains)
        let named = kinds.map { kind in
            let elements = conformance.departures.filter { $0.kind == kind }.compactMap(\.element)
            return elements.isEmpty ? kind.explanation : "\(kind.explanation) (\(elements.joined(separator: ", ")))"
        }
        .joined(separator: "; ")
        return (.failed, "The text departs from the standard: \(named).")
    }
}

/// Whether a text is plausible as a document number.
private enum DocumentNumber {
    /// The longest number that the AAMVA standard allows.
    static let maximumLength = 25
    /// Words that replace a withheld or invented number.
    static let words: Set<String> = [
        "NONE", "UNAVL", "UNKNOWN", "SPECIMEN", "SAMPLE", "VOID", "TEST", "NULL", "NA", "XXXXX",
    ]

    static func isOne(_ card: IdentityCard) -> Bool {
        let number = card.normalisedNumber
        guard (1...maximumLength).contains(number.utf8.count), !words.contains(number) else { return false }
        let significant = number.utf8.filter { $0 != UInt8(ascii: "0") && $0 != UInt8(ascii: "*") }
        guard let first = significant.first else { return false }
        // The same character five times or more is a filler. Shorter numbers exist, because some are sequential.
        if number.utf8.count >= 5, number.utf8.allSatisfy({ $0 == first }) { return false }
        return card.documentNumber.utf8.allSatisfy { byte in
            byte.capitalised.isCapital || byte.isDigit || [0x20, 0x2A, 0x2D, 0x2F, 0x2E].contains(byte)
        }
    }
}
