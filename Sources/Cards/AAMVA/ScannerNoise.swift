/// Characters that keyboard-like scanners add around elements: C1 controls, no-break spaces, soft hyphens and
/// zero-width marks, in ISO/IEC 8859-1 or UTF-8.
struct ScannerNoise {
    private let bytes: [UInt8]
    /// Whether the whole text is UTF-8 with characters beyond ASCII.
    private let isUTF8: Bool
    /// Whether there is any byte beyond ASCII. Without one there is no noise.
    private let isPossible: Bool

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        isPossible = bytes.contains { $0 >= 0x80 }
        isUTF8 = isPossible && String(validating: bytes, as: UTF8.self) != nil
    }

    /// A range without leading and trailing blanks, controls and noise.
    func trimmed(_ range: Range<Int>) -> (range: Range<Int>, hadNoise: Bool) {
        var (start, end, hadNoise) = (range.lowerBound, range.upperBound, false)
        while start < end {
            if bytes[start] <= 0x20 {
                start += 1
            } else if let width = width(at: start, end: end) {
                start += width
                hadNoise = true
            } else {
                break
            }
        }
        while start < end {
            if bytes[end - 1] <= 0x20 {
                end -= 1
            } else if let width = width(before: end, start: start) {
                end -= width
                hadNoise = true
            } else {
                break
            }
        }
        return (start..<end, hadNoise)
    }

    /// Whether a C1 control begins at a position.
    func isControl(at position: Int) -> Bool {
        guard isPossible, bytes[position] >= 0x80 else { return false }
        guard isUTF8 else { return bytes[position] <= 0x9F }
        return bytes[position] == 0xC2 && position + 1 < bytes.count && bytes[position + 1] <= 0x9F
    }

    /// The number of bytes of the noise that begins at a position.
    private func width(at position: Int, end: Int) -> Int? {
        guard isPossible, bytes[position] >= 0x80 else { return nil }
        guard isUTF8 else { return Self.isNoise(bytes[position]) ? 1 : nil }
        // The rest of a character whose first byte was parsed as a separator.
        if bytes[position] <= 0xBF { return 1 }
        return [2, 3].first { position + $0 <= end && Self.isNoise(bytes[position..<position + $0]) }
    }

    /// The number of bytes of the noise that ends before a position.
    private func width(before position: Int, start: Int) -> Int? {
        guard isPossible, bytes[position - 1] >= 0x80 else { return nil }
        guard isUTF8 else { return Self.isNoise(bytes[position - 1]) ? 1 : nil }
        return [2, 3].first { position - $0 >= start && Self.isNoise(bytes[position - $0..<position]) }
    }

    private static func isNoise(_ byte: UInt8) -> Bool { (0x80...0xA0).contains(byte) || byte == 0xAD }

    private static func isNoise(_ character: ArraySlice<UInt8>) -> Bool {
        let lead = character.dropLast()
        guard let last = character.last else { return false }
        if lead.elementsEqual([0xC2]) { return isNoise(last) }
        // U+200B to U+200F, U+2028 to U+202F.
        if lead.elementsEqual([0xE2, 0x80]) { return (0x8B...0x8F).contains(last) || (0xA8...0xAF).contains(last) }
        // U+2060 to U+206F, U+FEFF.
        if lead.elementsEqual([0xE2, 0x81]) { return (0xA0...0xAF).contains(last) }
        return lead.elementsEqual([0xEF, 0xBB]) && last == 0xBF
    }
}
