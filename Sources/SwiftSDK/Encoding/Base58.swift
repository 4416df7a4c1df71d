/// base58 in the alphabet of Bitcoin, the form of public keys in `did:key` and in Multikey documents.
public enum Base58 {
    private static let alphabet = Array("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".utf8)
}

public extension Base58 {
    /// Longer texts are refused, because the time to decode one grows with the square of its length.
    static let maximumLength = 128

    /// Decodes a text; `nil` for foreign characters and texts that are too long.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.count <= maximumLength else { return nil }
        // The lowest byte comes first.
        var bytes: [UInt8] = []
        for character in text.utf8 {
            guard var carry = alphabet.firstIndex(of: character) else { return nil }
            for place in bytes.indices {
                carry += Int(bytes[place]) * alphabet.count
                bytes[place] = UInt8(truncatingIfNeeded: carry)
                carry >>= 8
            }
            while carry > 0 {
                bytes.append(UInt8(truncatingIfNeeded: carry))
                carry >>= 8
            }
        }
        let zeros = text.utf8.prefix { $0 == alphabet[0] }.count
        return [UInt8](repeating: 0, count: zeros) + bytes.reversed()
    }
}
