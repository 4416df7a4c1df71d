import Domain

/// A North American driving licence or identity card, parsed from the text of its PDF417 barcode. Supported are the
/// editions of the AAMVA card design standard from 2000 to 2025.
///
/// Parsing checks nothing: missing values stay missing, and departures from the standard are listed in ``conformance``.
package struct AAMVACard: Sendable, Equatable, Confidential {
    let header: AAMVAHeader
    /// The edition by which the card was parsed: the header's, or a guess if the header's is missing or unknown.
    let version: AAMVAVersion
    package let identityCard: IdentityCard
    /// Data that only the search for contradictions uses.
    let statements: Statements
    /// The elements that the issuer's signature covers; `nil` for a card without a signature.
    let protectedElements: ProtectedElements?
    /// The text's departures from the standard.
    let conformance: AAMVAConformance
    /// The missing elements without which a card is invalid, by the standard's three letters: number, birthday,
    /// expiry. Those of the name are listed if there is no name at all.
    let missingElements: [String]

    /// The longest accepted text, in bytes. A PDF417 symbol has 1,850 characters.
    static let maximumLength = 8192

    private init(
        header: AAMVAHeader, elements: AAMVAElements, bytes: [UInt8], conformance: AAMVAConformance
    ) {
        let version = header.versionNumber.flatMap { AAMVAVersion($0) } ?? AAMVAVersion(guessedFrom: elements)
        var values = AAMVAValues(bytes, elements: elements, conformance: conformance)
        let issuer = header.issuerNumber.flatMap { Issuer.of(number: $0) }
        if header.issuerNumber != nil, issuer == nil { values.conformance.note(.issuerNumber) }
        let primary = elements.all.first { $0.subfile.isPrimary }?.subfile ?? .drivingLicence
        var card = IdentityCard(source: .aamva, kind: primary == .identification ? .identification : .licence)

        card.name = values.name(version: version)
        var address = values.address()
        let country =
            values.country(issuer: issuer) ?? issuer?.country
            ?? address.jurisdiction.flatMap { Jurisdiction.of(code: $0) }?.country
        address.country = country
        card.address = address
        card.country = issuer?.country ?? country
        card.jurisdiction = issuer == nil ? address.jurisdiction : issuer?.jurisdiction?.code
        let order: AAMVADate.Order = version.number == 1 || country == "CAN" ? .yearMonthDay : .monthDayYear
        (card.dateOfBirth, card.isBirthdayInFull) = values.birth(ElementID("DBB"), expecting: order)
        card.issuedOn = values.date(ElementID("DBD"), expecting: order)
        card.expiresOn = values.expiry(ElementID("DBA"), expecting: order)
        card.documentNumber = values.text(firstOf: version.numberElements) ?? ""
        card.documentDiscriminator = values.text(ElementID("DCF"))
        card.sex = values.text(ElementID("DBC")).flatMap(Self.sex)
        card.compliance = values.text(ElementID("DDA")).flatMap(IdentityCard.Compliance.init(rawValue:))
        card.isLimitedDuration = values.text(ElementID("DDD")).map { $0 == "1" }
        card.issuerSignature = SignedSubfile.signature(in: elements, of: bytes, header: header, issuer: issuer)
        card.fields = values.fields()

        let names = values.missingNames(version: version)
        missingElements =
            version.requiredElements.filter { either in !either.contains { values.isPresent($0) } }
            .compactMap(\.first?.text)
            + (NameFolding.folded(card.name.full).isEmpty ? (names.isEmpty ? version.nameElements : names) : [])
        let identifying = version.identifyingElements.filter { either in !either.contains { values.isPresent($0) } }
        let descriptive = version.descriptiveElements(forDriving: card.kind == .licence).filter { !values.contains($0) }
        for element in identifying.compactMap(\.first?.text) + names + descriptive.map(\.text) {
            values.conformance.note(.missingElement, element)
        }

        self.header = header
        self.version = version
        protectedElements =
            card.issuerSignature.credential == nil ? nil : ProtectedElements(elements, of: bytes)
        self.identityCard = card
        statements = Statements(&values, card, header, elements)
        self.conformance = values.conformance
    }
}

package extension AAMVACard {
    /// Parses a barcode's text.
    ///
    /// - Throws: `Refusal` `malformed_request` if it is not an AAMVA text: too long, without a header, or without a
    ///   data element.
    static func read(_ text: String) throws(Refusal) -> AAMVACard {
        try read(Array(text.utf8))
    }

    /// Parses a barcode's bytes: ASCII, ISO/IEC 8859-1 or UTF-8.
    ///
    /// - Throws: as ``read(_:)-(String)``.
    static func read(_ bytes: [UInt8]) throws(Refusal) -> AAMVACard {
        guard bytes.count <= maximumLength else {
            throw Refusal.barcodeTooLong(allowed: maximumLength)
        }
        var conformance = AAMVAConformance()
        let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        if hasMark { conformance.note(.byteOrderMark) }
        guard let header = AAMVAHeader(bytes, start: hasMark ? 3 : 0, noting: &conformance) else {
            throw Refusal.barcodeWithoutHeader
        }
        let elements = try AAMVAElements(bytes, header: header, noting: &conformance)
        guard elements.all.contains(where: { !$0.id.isJurisdictionSpecific }) else {
            throw Refusal.barcodeWithoutElements
        }
        guard !elements.lacksSeparators else {
            throw Refusal.barcodeWithoutSeparators
        }
        return AAMVACard(header: header, elements: elements, bytes: bytes, conformance: conformance)
    }

    /// 1, 2 and 9 of ISO/IEC 5218; letters on cards of the first edition.
    private static func sex(_ code: String) -> IdentityCard.Sex? {
        switch code {
        case "1", "M": .male
        case "2", "F": .female
        case "9", "0", "X", "N", "U": .unspecified
        default: nil
        }
    }
}
