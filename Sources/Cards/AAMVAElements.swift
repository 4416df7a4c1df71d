import Identity

/// The data elements of an AAMVA card, found by scanning: `id + value`, each ended by a separator. Offsets and lengths
/// of the header play no part, since too few cards state them rightly.
struct AAMVAElements {
    /// One element: its bytes stay where they are until someone asks for the text.
    struct Element {
        let id: ElementID
        let subfile: SubfileType
        /// The value without blanks at its end.
        let value: Range<Int>
    }

    /// More elements than this are no card: the standard defines about a hundred.
    static let maximumCount = 256

    private let bytes: [UInt8]
    /// All elements in the card's order.
    private(set) var all: [Element] = []
    private var subfile = SubfileType.drivingLicence
    /// Whether the type of a subfile was seen, in the header or in the text.
    private var isInSubfile = false
    /// Whether a carriage return, the end of a subfile, came before the text at hand.
    private var isAfterReturn = false

    /// Scans a text behind its header.
    ///
    /// - Throws: ``Refusal`` `malformed_request` for more than ``maximumCount`` elements.
    init(_ bytes: [UInt8], header: AAMVAHeader, noting conformance: inout AAMVAConformance) throws(Refusal) {
        self.bytes = bytes
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

    /// Whether an element of this name is there.
    func contains(_ id: ElementID) -> Bool { all.contains { $0.id == id } }

    /// The first element of this name.
    func first(_ id: ElementID) -> Element? { all.first { $0.id == id } }

    private func endOfElement(from start: Int) -> Int {
        var position = start
        while position < bytes.count {
            let byte = bytes[position]
            if byte < 0x20, byte != 0x09, byte != 0 { return position }
            if byte == UInt8(ascii: "|"), isBoundary(after: position) { return position }
            position += 1
        }
        return position
    }

    /// A bar separates where an element or a subfile begins behind it, or nothing more comes.
    private func isBoundary(after bar: Int) -> Bool {
        let next = bar + 1
        guard next < bytes.count, bytes[next] >= 0x20, bytes[next] != UInt8(ascii: "|") else { return true }
        return elementID(at: next, end: bytes.count) != nil || bytes.subfileType(at: next) != nil
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
        var (start, end) = (text.lowerBound, text.upperBound)
        while end > start, bytes[end - 1] <= 0x20 { end -= 1 }
        while start < end, bytes[start] <= 0x20 { start += 1 }
        guard start < end else { return }
        if let type = beginningSubfile(at: start, end: end) {
            subfile = type
            isInSubfile = true
            start += 2
            guard start < end else { return }
        } else if isAfterReturn, isInSubfile {
            conformance.note(.carriageReturnSeparator)
        }
        isAfterReturn = false
        guard let id = elementID(at: start, end: end) else { return conformance.note(.strayText) }
        guard all.count < Self.maximumCount else {
            throw Refusal(
                .malformedRequest, "aamva holds more than \(Self.maximumCount) data elements: this is no card's text.")
        }
        let value = start + 3..<end
        if let earlier = first(id), !id.isJurisdictionSpecific, !bytes[earlier.value].elementsEqual(bytes[value]) {
            conformance.note(.duplicateElement, id.text)
        }
        all.append(Element(id: id, subfile: subfile, value: value))
    }

    /// Whether a text begins with the type of a subfile. No element of the standard begins with `DL`, `ID` or `EN`; a
    /// jurisdiction's type is told from its elements, which begin with the same letters, by standing twice.
    private func beginningSubfile(at start: Int, end: Int) -> SubfileType? {
        guard end - start >= 2, let type = bytes.subfileType(at: start) else { return nil }
        if end - start == 2 { return type }
        if type.isPrimary { return bytes[start + 2].isCapital ? type : nil }
        return type != subfile && end - start >= 4 && bytes.subfileType(at: start + 2) == type ? type : nil
    }

    private func elementID(at start: Int, end: Int) -> ElementID? {
        guard end - start >= 3, bytes[start] == UInt8(ascii: "D") || bytes[start] == UInt8(ascii: "Z"),
            bytes[start + 1].isCapital, bytes[start + 2].isCapital || bytes[start + 2].isDigit
        else { return nil }
        return ElementID(bytes[start], bytes[start + 1], bytes[start + 2])
    }
}
