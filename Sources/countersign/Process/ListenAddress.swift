import Encoding

/// Where a listener listens: an IP address and a port, as in `127.0.0.1:8440` or `[::1]:0`.
struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// An IPv4 or IPv6 address without brackets, never a name: what a name means may change under the service.
    let host: String
    /// 0 takes a free port.
    let port: Int

    /// Reads `ADDR:PORT`; IPv6 addresses stand in brackets (RFC 3986 §3.2.2), `localhost` means `127.0.0.1`.
    ///
    /// - Returns: `nil` where the text is anything else.
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

    /// Whether only this machine reaches it: 127.0.0.0/8 (RFC 1122 §3.2.1.3), `::1`, or the former mapped into IPv6.
    var isLoopback: Bool {
        IPAddress(host)?.unmapped.isLoopback ?? false
    }

    /// The form that ``init(_:)`` reads.
    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
