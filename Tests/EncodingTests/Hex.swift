/// The hexadecimal form in which standards print their examples.
enum Hex {
    static func bytes(_ hex: some StringProtocol) -> [UInt8] {
        let digits = hex.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        return stride(from: 1, to: digits.count, by: 2).map { UInt8(digits[$0 - 1] << 4 | digits[$0]) }
    }
}
