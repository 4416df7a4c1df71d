import Domain

/// The header of an AAMVA card's text: `@`, LF, RS, CR, `ANSI `, issuer number, version, jurisdiction version (from the
/// second edition on), number of entries, and a designator for each subfile.
struct AAMVAHeader: Sendable, Equatable {
    /// The issuer identification number (ISO/IEC 7812), six digits; `nil` if there are fewer.
    let issuerNumber: Int?
    /// The version as written; `nil` if it is missing.
    let versionNumber: Int?
    /// The issuer's own version; `nil` if it is missing, as in version 01.
    let jurisdictionVersion: Int?
    /// The number of subfiles as written; `nil` if it is missing.
    let entryCount: Int?
    /// The designator of each subfile, in order.
    let designators: [Designator]
    /// Where the first subfile begins, as far as the header shows.
    let end: Int

    /// The header's entry for one subfile.
    struct Designator: Sendable, Equatable {
        let type: SubfileType
        /// Bytes from the `@` to the subfile's type.
        let offset: Int?
        /// Bytes from the type to the carriage return, both included.
        let length: Int?
    }

    /// The search for the file type ends at this position.
    private static let searchLimit = 64
    /// The number of designators that are read. Further ones are ignored.
    private static let maximumDesignators = 16

    /// Parses the header.
    ///
    /// - Parameter start: the start of the text, after a byte order mark.
    /// - Returns: `nil` if there is no file type, so the text is not an AAMVA text.
    init?(_ bytes: [UInt8], start: Int, noting conformance: inout AAMVAConformance) {
        guard let fileType = Self.fileType(bytes, from: start) else { return nil }
        let indicator: [UInt8] = [0x40, 0x0A, 0x1E, 0x0D]
        if !bytes[start..<fileType.start].elementsEqual(indicator) { conformance.note(.complianceIndicator) }
        if !fileType.isStandard { conformance.note(.fileType) }

        var digits = Digits(bytes: bytes, position: fileType.end)
        issuerNumber = digits.take(6)
        let version = digits.take(2)
        versionNumber = version
        if issuerNumber == nil { conformance.note(.issuerNumber) }
        let edition = version.flatMap { AAMVAVersion($0) }
        if edition == nil { conformance.note(.versionNumber) }

        // If four digits follow, there is a jurisdiction version. If only two do, their meaning depends on the
        // edition.
        let expectsJurisdictionVersion = edition?.hasJurisdictionVersion ?? true
        let rest = digits.count
        jurisdictionVersion = rest >= 4 || (expectsJurisdictionVersion && rest >= 2) ? digits.take(2) : nil
        if (jurisdictionVersion != nil) != expectsJurisdictionVersion { conformance.note(.jurisdictionVersion) }
        entryCount = digits.take(2)
        if digits.count > 0 { conformance.note(.subfileDesignator) }
        digits.skip()

        let (designators, end) = Self.designators(bytes, from: digits.position, noting: &conformance)
        self.designators = designators
        self.end = end
        if entryCount != designators.count { conformance.note(.entryCount) }
        if !designators.contains(where: \.type.isPrimary) { conformance.note(.subfileType) }
        for designator in designators { Self.check(designator, in: bytes, start: start, noting: &conformance) }
    }

    private static func fileType(_ bytes: [UInt8], from start: Int) -> (start: Int, end: Int, isStandard: Bool)? {
        for position in start..<max(start, min(bytes.count, start + searchLimit)) {
            guard bytes[position] == UInt8(ascii: "A") else { continue }
            for word: StaticString in ["ANSI", "AAMVA", "AMVA"] where bytes.holds(word, at: position) {
                var end = position + word.utf8CodeUnitCount
                let afterWord = end
                // A no-break space is accepted as a blank; it has no other use here.
                while end < bytes.count, [0x20, 0xA0, 0xC2].contains(bytes[end]) { end += 1 }
                let isStandard = bytes[position + 1] == UInt8(ascii: "N") && end == afterWord + 1
                return (position, end, isStandard)
            }
        }
        return nil
    }

    /// Repeats of a type with its eight digits. A type followed by another type lacks them. A type followed by an
    /// element begins the first subfile.
    private static func designators(
        _ bytes: [UInt8], from start: Int, noting conformance: inout AAMVAConformance
    ) -> ([Designator], end: Int) {
        var found: [Designator] = []
        var position = start
        while found.count < maximumDesignators, let type = bytes.subfileType(at: position) {
            var digits = Digits(bytes: bytes, position: position + 2)
            if digits.count == 0, !precedesPrimary(bytes, at: position) { break }
            let isComplete = digits.count == 8
            if !isComplete { conformance.note(.subfileDesignator, type.text) }
            let offset = isComplete ? digits.take(4) : nil
            found.append(Designator(type: type, offset: offset, length: isComplete ? digits.take(4) : nil))
            digits.skip()
            position = digits.position
        }
        return (found, position)
    }

    /// Whether a type without digits is a designator: further types follow it, and one of them begins the card's
    /// standard elements.
    private static func precedesPrimary(_ bytes: [UInt8], at position: Int) -> Bool {
        for place in 1...maximumDesignators {
            guard let type = bytes.subfileType(at: position + 2 * place) else { return false }
            if type.isPrimary { return true }
        }
        return false
    }

    private static func check(
        _ designator: Designator, in bytes: [UInt8], start: Int, noting conformance: inout AAMVAConformance
    ) {
        guard let offset = designator.offset, let length = designator.length else { return }
        guard bytes.subfileType(at: start + offset) == designator.type else {
            return conformance.note(.subfileOffset, designator.type.text)
        }
        let last = start + offset + length - 1
        if length < 3 || last >= bytes.count || bytes[last] != 0x0D {
            conformance.note(.subfileLength, designator.type.text)
        }
    }

    /// A run of decimal digits, consumed in pieces.
    private struct Digits {
        let bytes: [UInt8]
        private(set) var position: Int
        private(set) var count: Int

        init(bytes: [UInt8], position: Int) {
            self.bytes = bytes
            self.position = position
            var end = position
            while end < bytes.count, bytes[end].isDigit { end += 1 }
            count = end - position
        }

        /// Consumes the next `width` digits as a number; returns `nil` and consumes nothing if there are fewer.
        mutating func take(_ width: Int) -> Int? {
            guard count >= width else { return nil }
            let number = bytes[position..<position + width].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
            position += width
            count -= width
            return number
        }

        mutating func skip() {
            position += count
            count = 0
        }
    }
}

extension [UInt8] {
    /// Whether a word is at a position.
    func holds(_ word: StaticString, at position: Int) -> Bool {
        guard position >= 0, position + word.utf8CodeUnitCount <= count else { return false }
        for index in 0..<word.utf8CodeUnitCount where self[position + index] != word.utf8Start[index] { return false }
        return true
    }

    /// The subfile type at a position, if there is one.
    func subfileType(at position: Int) -> SubfileType? {
        guard position >= 0, position + 2 <= count else { return nil }
        let type = SubfileType(self[position], self[position + 1])
        return type.isPrimary || type.isJurisdictionSpecific ? type : nil
    }
}
