import Encoding
import Foundation

/// The number of an installation, among several of one company (Capacity). Every identifier that the service creates is
/// a UUID of version 8 (RFC 9562 §5.8) with this number in the 12 bits after the version. So a router can send a
/// request to the cell that created the identifier.
package struct Cell: Hashable, Sendable, CustomStringConvertible {
    /// A number from 0 to 4095.
    let number: UInt16

    private init(number: UInt16) {
        self.number = number
    }
}

package extension Cell {
    /// The cell of a single installation.
    static let first = Cell(number: 0)

    /// `nil` for a number that does not fit into 12 bits.
    init?(_ number: Int) {
        guard (0...4095).contains(number) else { return nil }
        self.init(number: UInt16(number))
    }

    /// Parses a decimal number without sign and leading zeros; `nil` for anything else.
    init?(_ text: String) {
        guard let number = Int(text), String(number) == text else { return nil }
        self.init(number)
    }

    /// Makes a random identifier that reveals only its cell: 48 random bits, version, cell, variant, 62 random bits.
    ///
    /// - Parameter random: ``randomLength`` bytes of a cryptographic generator.
    func randomID(_ random: [UInt8]) -> UUID {
        id(Self.word(random.prefix(6)), Self.word(random.dropFirst(6)))
    }

    /// The number of bytes that ``randomID(_:)`` needs.
    static let randomLength = 14

    /// Makes an identifier that begins with a time, so that rows created together are stored together: 48 bits of Unix
    /// milliseconds, version, cell, variant, 62 other bits. Use it only if the readers of the identifier may know the
    /// time.
    ///
    /// - Parameter rest: 8 bytes that make it unique within its millisecond.
    func orderedID(at time: Date, _ rest: some Sequence<UInt8>) -> UUID {
        id(UInt64(clamping: time.milliseconds), Self.word(rest))
    }

    /// Combines the two 64-bit words of an identifier, without the bits that the version and the variant replace.
    private func id(_ first: UInt64, _ last: UInt64) -> UUID {
        let words = (
            (first << 16 | 0x8000 | UInt64(number)).bigEndian,
            (last & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000).bigEndian
        )
        return withUnsafeBytes(of: words) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    private static func word(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    var description: String { String(number) }
}
