import Domain

/// The data elements of an AAMVA card, found by scanning: `id + value`, each ended by a separator. Offsets and
/// lengths in the header are ignored, because few cards have correct ones.
struct AAMVAElements {
    /// One element; its bytes are not copied until the text is read.
    struct Element {
        let id: ElementID
        let subfile: SubfileType
        /// The value without trailing blanks.
        let value: Range<Int>
    }

    /// The maximum number of elements in a text. The standard defines about a hundred.
    static let maximumCount = 256

    private let bytes: [UInt8]
    private let noise: ScannerNoise
    /// All elements in the card's order.
    private(set) var all: [Element] = []
    private var subfile = SubfileType.drivingLicence
    /// Whether the type of a subfile has occurred, in the header or in the text.
    private var isInSubfile = false
    /// Whether a carriage return, the end of a subfile, precedes the current position.
    private var isAfterReturn = false

    /// Scans a text after its header.
    ///
    /// - Throws: `Refusal` `malformed_request` for more than ``maximumCount`` elements.
    init(_ bytes: [UInt8], header: AAMVAHeader, noting conformance: inout AAMVAConformance) throws(Refusal) {
        self.bytes = bytes
        noise = ScannerNoise(bytes)
        all.reserveCapacity(48)
        if let first = header.designators.first(where: \.type.isPrimary) { subfile = first.type }
        var position = header.end
        while position < bytes.count {
            let end = endOfElement(from: position)
            try take(position..<end, noting: &conformance)
            if end < bytes.count { noteSeparator(at: end, noting: &conformance) }
            position = end + 1
        }
        if !isInSubfile, !conformance.kinds.contains(.subfileType) { conformance.note(.subfileType) }
    }

    /// Whether an element with this id is present.
    func contains(_ id: ElementID) -> Bool { all.contains { $0.id == id } }

    /// The first element with this id.
    func first(_ id: ElementID) -> Element? { all.first { $0.id == id } }

    /// Whether the text has lost its line feeds: at least two of number, birthday and expiry occur inside the value
    /// of another element. Such a text could be divided anywhere, so it is refused.
    var lacksSeparators: Bool {
        let lost = Self.unmistakable.filter { !contains($0) }
        guard lost.count >= 2 else { return false }
        return lost.count { id in all.contains { holds(id, in: $0.value) } } >= 2
    }

    private static let unmistakable = ["DAQ", "DBB", "DBA"].map { ElementID($0) }

    /// Whether an id followed by a digit or capital occurs in a value.
    private func holds(_ id: ElementID, in value: Range<Int>) -> Bool {
        guard value.count > 3 else { return false }
        return (value.lowerBound..<value.upperBound - 3).contains { position in
            elementID(at: position, end: value.upperBound) == id
                && (bytes[position + 3].isDigit || bytes[position + 3].isCapital)
        }
    }

    private func endOfElement(from start: Int) -> Int {
        var position = start
        while position < bytes.count {
            let byte = bytes[position]
            if byte < 0x20, byte != 0x09, byte != 0 { return position }
            if byte == UInt8(ascii: "|"), isBoundary(after: position) { return position }
            if byte == 0x09 || (byte >= 0x80 && noise.isControl(at: position)), isElement(after: position),
                !noise.trimmed(start..<position).range.isEmpty
            {
                return position
            }
            position += 1
        }
        return position
    }

    /// A tab or C1 control is a separator only if an element precedes it and another follows. Otherwise it is part of a
    /// value, or noise before an id.
    private func isElement(after separator: Int) -> Bool {
        // Only a few bytes further, so that a text of controls is not searched to its end from each of them.
        let next = noise.trimmed(separator + 1..<min(separator + 9, bytes.count)).range.lowerBound
        return elementID(at: next, end: bytes.count) != nil
    }

    /// A bar is a separator if an element or a subfile follows, or the text ends.
    private func isBoundary(after bar: Int) -> Bool {
        let next = bar + 1
        guard next < bytes.count, bytes[next] >= 0x20, bytes[next] != UInt8(ascii: "|") else { return true }
        return isElement(after: bar) || bytes.subfileType(at: next) != nil
    }

    private mutating func noteSeparator(at position: Int, noting conformance: inout AAMVAConformance) {
        switch bytes[position] {
        case 0x0A: break
        case 0x0D: isAfterReturn = true
        case UInt8(ascii: "|"): conformance.note(.barSeparator)
        default: conformance.note(.otherSeparator)
        }
        if bytes[position] == 0x0D, position + 1 < bytes.count, bytes[position + 1] == 0x0A {
            conformance.note(.carriageReturnSeparator)
        }
    }

    private mutating func take(_ text: Range<Int>, noting conformance: inout AAMVAConformance) throws(Refusal) {
        let (range, hadNoise) = noise.trimmed(text)
        let end = range.upperBound
        var start = range.lowerBound
        if hadNoise { conformance.note(.scannerNoise) }
        guard start < end else { return }
        if let type = beginningSubfile(at: start, end: end) {
            subfile = type
            isInSubfile = true
            start = noise.trimmed(start + 2..<end).range.lowerBound
            guard start < end else { return }
        } else if isAfterReturn, isInSubfile {
            conformance.note(.carriageReturnSeparator)
        }
        isAfterReturn = false
        guard let id = elementID(at: start, end: end) else { return conformance.note(.strayText) }
        guard all.count < Self.maximumCount else {
            throw Refusal.tooManyElements(allowed: Self.maximumCount)
        }
        let value = start + 3..<end
        if let earlier = first(id), !id.isJurisdictionSpecific, !bytes[earlier.value].elementsEqual(bytes[value]) {
            conformance.note(.duplicateElement, id.text)
        }
        all.append(Element(id: id, subfile: subfile, value: value))
    }

    /// The subfile type at the beginning of a text, if there is one. No element of the standard begins with `DL`, `ID`
    /// or `EN`. A jurisdiction's elements begin with its type's letters, so its type is recognized because the letters
    /// occur twice.
    private func beginningSubfile(at start: Int, end: Int) -> SubfileType? {
        guard end - start >= 2, let type = bytes.subfileType(at: start) else { return nil }
        if end - start == 2 { return type }
        if type.isPrimary { return bytes[start + 2].isCapital || bytes[start + 2] >= 0x80 ? type : nil }
        return type != subfile && end - start >= 4 && bytes.subfileType(at: start + 2) == type ? type : nil
    }

    private func elementID(at start: Int, end: Int) -> ElementID? {
        guard end - start >= 3, bytes[start] == UInt8(ascii: "D") || bytes[start] == UInt8(ascii: "Z"),
            bytes[start + 1].isCapital, bytes[start + 2].isCapital || bytes[start + 2].isDigit
        else { return nil }
        return ElementID(bytes[start], bytes[start + 1], bytes[start + 2])
    }
}
