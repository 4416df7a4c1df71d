import Synchronization

/// The telephone numbers of one region (ITU-T E.164), as libphonenumber's metadata describes them.
///
/// Steps and names follow libphonenumber, so that the two can be compared.
final class NumberingPlan: Sendable {
    private struct Kind: Sendable {
        let type: PhoneNumber.NumberType
        let lengths: Lengths
        let pattern: DigitPattern
    }

    /// The result for a number of digits.
    enum LengthVerdict: Sendable {
        case possible
        /// Dialled within a town, but not a complete number.
        case localOnly
        case tooShort
        case tooLong
        /// The length is between two valid ones.
        case notThere
    }

    /// A set of lengths: bit n means n digits.
    private struct Lengths: Sendable {
        let bits: UInt32

        func contains(_ count: Int) -> Bool { count < UInt32.bitWidth && bits & (1 << UInt32(count)) != 0 }
        var least: Int { bits.trailingZeroBitCount }
        var most: Int { UInt32.bitWidth - 1 - bits.leadingZeroBitCount }
    }

    let countryCallingCode: Int
    /// The region, ISO 3166-1 alpha-2; `001` for none.
    let region: String
    /// The prefix that is dialled here before a country calling code.
    let internationalPrefix: DigitPattern?
    /// The first digits of this region's national numbers, if only they distinguish it from others with the same
    /// code.
    let leadingDigits: DigitPattern?
    private let nationalPrefix: DigitPattern?
    /// The replacement of a matched national prefix: digits, and groups as `\` and their number.
    private let transform: [UInt8]
    private let lengths: Lengths
    private let localLengths: Lengths
    private let general: DigitPattern
    private let kinds: [Kind]

    /// Parses a row of ``PhoneMetadata``; `nil` if it is malformed.
    private init?(row: Substring) {
        let cells = row.split(separator: " ")
        guard cells.count > 2, let code = Int(cells[0]) else { return nil }
        countryCallingCode = code
        region = String(cells[1])
        var fields: [Substring: Substring] = [:]
        var kinds: [(PhoneNumber.NumberType, Substring)] = []
        for cell in cells[2...] {
            guard let sign = cell.firstIndex(of: "=") else { return nil }
            let (name, value) = (cell[..<sign], cell[cell.index(after: sign)...])
            if let type = PhoneNumber.NumberType(rawValue: String(name)) { kinds.append((type, value)) }
            fields[name] = value
        }
        guard let lengths = Self.lengths(fields["lengths"]),
            let general = fields["general"].flatMap({ DigitPattern($0) })
        else { return nil }
        self.lengths = lengths
        self.general = general
        localLengths = Self.lengths(fields["local_lengths"]) ?? Lengths(bits: 0)
        internationalPrefix = fields["international_prefix"].flatMap { DigitPattern($0) }
        nationalPrefix = fields["national_prefix"].flatMap { DigitPattern($0) }
        leadingDigits = fields["leading_digits"].flatMap { DigitPattern($0) }
        transform = Array((fields["transform"] ?? "").utf8)
        self.kinds = kinds.compactMap { type, value in
            let parts = value.split(separator: "/")
            guard let pattern = parts.last.flatMap({ DigitPattern($0) }) else { return nil }
            let own = parts.count == 2 ? Self.lengths(parts[0]) : lengths
            return own.map { Kind(type: type, lengths: $0, pattern: pattern) }
        }
        // If a kind could not be parsed, its numbers would silently be invalid.
        guard self.kinds.count == kinds.count else { return nil }
    }

    private static func lengths(_ list: Substring?) -> Lengths? {
        guard let list else { return nil }
        var bits: UInt32 = 0
        for item in list.split(separator: ",") {
            guard let count = UInt32(item), count < 32 else { return nil }
            bits |= 1 << count
        }
        return Lengths(bits: bits)
    }

    /// Whether the plan's coarsest pattern covers a national number.
    func covers(_ number: DigitText) -> Bool {
        general.matchesWhole(number)
    }

    /// The result for the length of a national number.
    func lengthVerdict(_ count: Int) -> LengthVerdict {
        if localLengths.contains(count) { return .localOnly }
        if count < lengths.least { return .tooShort }
        if count > lengths.most { return .tooLong }
        return lengths.contains(count) ? .possible : .notThere
    }

    /// The kind of a national number; `unknown` if it is not valid in this plan.
    func type(of number: DigitText) -> PhoneNumber.NumberType {
        guard lengths.contains(number.count), covers(number) else { return .unknown }
        let isOf = { (kind: Kind) in kind.lengths.contains(number.count) && kind.pattern.matchesWhole(number) }
        guard let first = kinds.first(where: isOf) else { return .unknown }
        guard first.type == .fixedLine else { return first.type }
        return kinds.contains { $0.type == .mobile && isOf($0) } ? .fixedLineOrMobile : .fixedLine
    }

    /// The number without its national prefix and carrier code, transformed as this plan says. It is unchanged if it
    /// has no prefix, or if the plan covers it only with the prefix.
    func strippingNationalPrefix(_ number: DigitText) -> DigitText {
        guard number.count > 0, let match = nationalPrefix?.prefix(of: number) else { return number }
        var digits: [UInt8] = []
        if !transform.isEmpty, let last = match.groups.last, last != nil {
            digits = transformed(match.groups, of: number)
        }
        guard let stripped = DigitText(digits + number.digits[match.end...]) else { return number }
        return covers(number) && !covers(stripped) ? number : stripped
    }

    /// The transform rule with the groups filled in.
    private func transformed(_ groups: [Range<Int>?], of number: DigitText) -> [UInt8] {
        var digits: [UInt8] = []
        var isReference = false
        for character in transform {
            guard character != UInt8(ascii: #"\"#) else {
                isReference = true
                continue
            }
            let value = Int(character) - Int(UInt8(ascii: "0"))
            if !isReference {
                digits.append(UInt8(truncatingIfNeeded: value))
            } else if groups.indices.contains(value - 1), let group = groups[value - 1] {
                digits += number.digits[group]
            }
            isReference = false
        }
        return digits
    }
}

extension NumberingPlan {
    /// The rows of each calling code, the main region's first, and the code of each region.
    private static let index: (rows: [Int: [Substring]], codes: [Substring: Int]) = {
        var rows: [Int: [Substring]] = [:]
        var codes: [Substring: Int] = [:]
        for row in PhoneMetadata.rows.split(separator: "\n") {
            let cells = row.split(separator: " ", maxSplits: 2)
            guard cells.count == 3, let code = Int(cells[0]) else { continue }
            rows[code, default: []].append(row)
            if cells[1] != "001" { codes[cells[1]] = code }
        }
        return (rows, codes)
    }()

    /// The plans that were used: parsing all 254 takes milliseconds, and most services need only a few.
    private static let read = Mutex<[Int: [NumberingPlan]]>([:])

    /// The plans of a country calling code, the main region's first; empty if the code is not assigned.
    static func plans(countryCallingCode code: Int) -> [NumberingPlan] {
        guard let rows = index.rows[code] else { return [] }
        return read.withLock { plans in
            if let known = plans[code] { return known }
            let found = rows.compactMap { NumberingPlan(row: $0) }
            plans[code] = found
            return found
        }
    }

    /// Whether a country calling code is assigned to a region or a service.
    static func isAssigned(countryCallingCode code: Int) -> Bool {
        index.rows[code] != nil
    }

    /// Whether a region has a plan. It is not parsed: a policy names regions, and each command reads the policies.
    static func isKnown(region: String) -> Bool { index.codes[Substring(region)] != nil }

    /// The plan of a region; `nil` if the region has none.
    static func plan(region: String) -> NumberingPlan? {
        guard let code = index.codes[Substring(region)] else { return nil }
        return plans(countryCallingCode: code).first { $0.region == region }
    }

    /// The plan for a national number of this calling code; `nil` if no region has such numbers.
    static func plan(countryCallingCode code: Int, national number: DigitText) -> NumberingPlan? {
        let plans = plans(countryCallingCode: code)
        guard plans.count > 1 else { return plans.first }
        return plans.first { plan in
            plan.leadingDigits.map { $0.matchesStart(of: number) } ?? (plan.type(of: number) != .unknown)
        }
    }
}
