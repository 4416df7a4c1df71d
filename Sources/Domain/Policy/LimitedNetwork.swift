/// The networks around a sender's address, as limits count them. A customer of an internet provider gets an IPv6
/// prefix of /56 or /48, which contains 256 or 65,536 networks of /64. A limit by /64 alone bounds nobody.
package enum LimitedNetwork {
    /// The wider networks around the one of a limit's key.
    ///
    /// - Parameter key: an IPv4 address, or an IPv6 network of /64 with its eight bytes in decimal, as in
    ///   `32.1.13.184.0.1.2.3/64`.
    /// - Returns: the keys of its /56 and its /48; `nil` if there are none.
    package static func wider(than key: String) -> (bits56: String, bits48: String)? {
        guard key.hasSuffix("/64") else { return nil }
        let bytes = key.dropLast(3).split(separator: ".", omittingEmptySubsequences: false)
        guard bytes.count == 8 else { return nil }
        return (bytes.prefix(7).joined(separator: ".") + "/56", bytes.prefix(6).joined(separator: ".") + "/48")
    }
}
