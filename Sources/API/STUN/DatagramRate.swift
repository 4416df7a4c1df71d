import Domain
import Encoding

/// How many datagrams of a network are answered in a second: /32 of IPv4; /64, /56 and /48 of IPv6. Sources of
/// datagrams can be forged, so the memory has a fixed size: networks share counters by a secret hash.
struct DatagramRate {
    /// The most answers in a second for each counter.
    static let perSecond = NetworkLimits(perAddress: 20, per56: 40, per48: 160)
    private static let counters = 65_536

    private var counts = [UInt8](repeating: 0, count: counters)
    private var second: Int64 = .min

    /// Counts a datagram; returns whether it may be answered.
    ///
    /// - Parameters:
    ///   - address: 4 or 16 bytes.
    ///   - second: seconds of a monotonic clock.
    mutating func admits(_ address: [UInt8], at second: Int64) -> Bool {
        if second != self.second {
            counts = [UInt8](repeating: 0, count: Self.counters)
            self.second = second
        }
        let limits = Self.perSecond
        let networks =
            address.count == 16
            ? [(8, limits.perAddress), (7, limits.per56), (6, limits.per48)] : [(address.count, limits.perAddress)]
        for (length, limit) in networks {
            let place = Self.place(of: address.prefix(length))
            guard counts[place] < limit else { return false }
            counts[place] += 1
        }
        return true
    }

    private static func place(of network: ArraySlice<UInt8>) -> Int {
        var hasher = Hasher()
        hasher.combine(network.count)
        for byte in network { hasher.combine(byte) }
        return Int(UInt(bitPattern: hasher.finalize()) % UInt(counters))
    }
}
