import Encoding

/// How many datagrams a network may have answered in a second: /32 of IPv4, /64 of IPv6. Sources of datagrams can be forged, so
/// what is remembered has one size: networks share counters, by a hash that nobody outside can compute.
struct DatagramRate {
    /// Answers in a second to what one counter counts.
    static let perSecond: UInt8 = 20
    private static let counters = 65_536

    private var counts = [UInt8](repeating: 0, count: counters)
    private var second: Int64 = .min

    /// Counts a datagram, and says whether it is answered.
    ///
    /// - Parameters:
    ///   - address: 4 or 16 bytes.
    ///   - second: seconds of a clock that does not go back.
    mutating func admits(_ address: [UInt8], at second: Int64) -> Bool {
        if second != self.second {
            counts = [UInt8](repeating: 0, count: Self.counters)
            self.second = second
        }
        var hasher = Hasher()
        hasher.combine(address.count)
        for byte in address.prefix(8) { hasher.combine(byte) }
        let place = Int(UInt(bitPattern: hasher.finalize()) % UInt(Self.counters))
        guard counts[place] < Self.perSecond else { return false }
        counts[place] += 1
        return true
    }
}
