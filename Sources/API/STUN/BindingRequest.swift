import Encoding

/// A STUN Binding Request (RFC 8489), parsed from one datagram. Malformed datagrams get no answer.
struct BindingRequest: Equatable {
    /// 96 bits that the sender chose.
    let transaction: [UInt8]
    /// The attributes that must be understood but are not; empty for a valid request.
    let unknown: [UInt16]
    /// Whether it ends with a FINGERPRINT. Then its answer also does.
    let hasFingerprint: Bool

    /// The largest accepted datagram: every network carries this size unfragmented (RFC 8489 §6.1).
    static let maximumLength = 548
    static let headerLength = 20
    static let cookie: [UInt8] = [0x21, 0x12, 0xA4, 0x42]
    private static let bindingRequest: UInt16 = 0x0001
    static let fingerprint: UInt16 = 0x8028
    /// The attributes of RFC 8489 and of ICE (RFC 8445) that a request may have. None of them changes the answer,
    /// because nothing is authenticated.
    private static let understood: Set<UInt16> = [
        0x0006, 0x0008, 0x0014, 0x0015, 0x001C, 0x001D, 0x001E, 0x0024, 0x0025,
    ]
    /// The most attributes that an answer names.
    private static let maximumUnknown = 4

    init?(_ datagram: [UInt8]) {
        let header = Self.headerLength
        guard (header...Self.maximumLength).contains(datagram.count), datagram.count % 4 == 0,
            Self.number(datagram, 0) == Self.bindingRequest,
            Int(Self.number(datagram, 2)) == datagram.count - header, Array(datagram[4..<8]) == Self.cookie
        else { return nil }
        transaction = Array(datagram[8..<header])
        var (unknown, hasFingerprint, place) = ([UInt16](), false, header)
        while place < datagram.count {
            // An attribute after the fingerprint makes the datagram malformed (§14.7).
            guard !hasFingerprint, place + 4 <= datagram.count else { return nil }
            let (type, length) = (Self.number(datagram, place), Int(Self.number(datagram, place + 2)))
            let end = place + 4 + (length + 3) / 4 * 4
            guard end <= datagram.count else { return nil }
            if type == Self.fingerprint {
                let value = Array(datagram[(place + 4)..<end])
                guard length == 4, value == Self.fingerprint(of: datagram[..<place]) else { return nil }
                hasFingerprint = true
            } else if type < 0x8000, !Self.understood.contains(type), unknown.count < Self.maximumUnknown {
                unknown.append(type)
            }
            place = end
        }
        (self.unknown, self.hasFingerprint) = (unknown, hasFingerprint)
    }

    private static func number(_ bytes: [UInt8], _ place: Int) -> UInt16 {
        UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
    }

    /// The value of a FINGERPRINT that follows these bytes: their CRC-32, XOR 0x5354554e (§14.7).
    static func fingerprint(of bytes: ArraySlice<UInt8>) -> [UInt8] {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return withUnsafeBytes(of: (~crc ^ 0x5354_554E).bigEndian) { Array($0) }
    }

    /// The answer to a sender: a success with the sender's address, or the error 420 with the unknown attributes.
    ///
    /// - Parameters:
    ///   - address: 4 or 16 bytes.
    ///   - port: the sender's port.
    func answer(to address: [UInt8], port: UInt16) -> [UInt8] {
        unknown.isEmpty
            ? message(0x0101, attribute(0x0020, mapped(address, port)))
            : message(
                0x0111,
                attribute(0x0009, [0, 0, 4, 20]) + attribute(0x000A, unknown.flatMap { Self.bytes($0) }))
    }

    /// The attribute XOR-MAPPED-ADDRESS (§14.2) with the sender's address.
    private func mapped(_ address: [UInt8], _ port: UInt16) -> [UInt8] {
        let mask = Self.cookie + transaction
        return [0, address.count == 4 ? 1 : 2] + Self.bytes(port ^ 0x2112) + zip(address, mask).map { $0 ^ $1 }
    }

    private func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
        return Self.bytes(type) + Self.bytes(UInt16(truncatingIfNeeded: value.count)) + value + padding
    }

    private func message(_ type: UInt16, _ attributes: [UInt8]) -> [UInt8] {
        let length = attributes.count + (hasFingerprint ? 8 : 0)
        let bytes =
            Self.bytes(type) + Self.bytes(UInt16(truncatingIfNeeded: length)) + Self.cookie + transaction + attributes
        return hasFingerprint ? bytes + attribute(Self.fingerprint, Self.fingerprint(of: bytes[...])) : bytes
    }

    private static func bytes(_ number: UInt16) -> [UInt8] {
        [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
    }
}
