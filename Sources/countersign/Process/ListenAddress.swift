import Encoding

/// The address of a listener: an IP address and a port, as in `127.0.0.1:8440` or `[::1]:0`.
struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// An IPv4 or IPv6 address without brackets, never a name: a name's address may change while the service runs.
    let host: String
    /// 0 chooses a free port.
    let port: Int

    /// Parses `ADDR:PORT`. IPv6 addresses need brackets (RFC 3986 §3.2.2), and `localhost` means `127.0.0.1`.
    ///
    /// - Returns: `nil` for any other text.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(digits), port <= 65_535
        else { return nil }
        var host = String(text[..<colon])
        if host == "localhost" { host = "127.0.0.1" }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard IPAddress(ipv6: host) != nil else { return nil }
        } else {
            guard IPAddress(ipv4: host) != nil else { return nil }
        }
        self.host = host
        self.port = port
    }

    /// Whether it is a loopback address: 127.0.0.0/8 (RFC 1122 §3.2.1.3), `::1`, or an IPv4-mapped one.
    var isLoopback: Bool {
        IPAddress(host)?.unmapped.isLoopback ?? false
    }

    /// The form that ``init(_:)`` parses.
    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
