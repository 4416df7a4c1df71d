import Encoding

/// The header of version 1, one line of text (haproxy's proxy-protocol.txt §2.1): `PROXY TCP4 203.0.113.5 192.0.2.1 49153
/// 8440` and CR LF.
enum ProxyLine {
    /// The length of the longest valid line, bytes, CR and LF included.
    static let maximumLength = 107
    static let prefix = Array("PROXY ".utf8)

    /// Parses the beginning of a connection. Accepts only one form: single spaces, addresses of the named family,
    /// decimal ports without leading zeros. After `UNKNOWN` everything up to the end of the line is skipped.
    static func read(_ start: [UInt8]) throws(ProxyHeader.Defect) -> ProxyHeader.Reading {
        let line = start.prefix(maximumLength)
        guard prefix.starts(with: line.prefix(prefix.count)) else { throw .signature }
        guard let end = line.firstIndex(where: { !(0x20...0x7E).contains($0) }) else {
            guard line.count < maximumLength else { throw .length }
            return .incomplete
        }
        guard line[end] == UInt8(ascii: "\r") else { throw .line }
        guard let last = line[end...].dropFirst().first else {
            // A line that would end after the limit is refused.
            guard end + 2 <= maximumLength else { throw .length }
            return .incomplete
        }
        guard last == UInt8(ascii: "\n") else { throw .line }
        let text = String(decoding: line[..<end], as: UTF8.self)
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        return .complete(ProxyHeader(source: try source(words)), length: end + 2)
    }

    private static func source(_ words: [Substring]) throws(ProxyHeader.Defect) -> ProxyHeader.Source {
        // The prefix ends with a space, so there are at least two words.
        if words.dropFirst().first == "UNKNOWN" { return .connection }
        guard words.count == 6 else { throw .line }
        let addresses = words[2...3].map { address(String($0), family: words[1]) }
        guard let client = addresses[0], addresses[1] != nil else { throw .family }
        guard let from = port(words[4]), port(words[5]) != nil else { throw .line }
        return .address(client, port: from)
    }

    private static func address(_ text: String, family: Substring) -> IPAddress? {
        switch family {
        case "TCP4": IPAddress(ipv4: text)
        // The specification has only hexadecimal digits. But proxies write what inet_ntop does: `::ffff:203.0.113.5` for
        // a client of IPv4 on a socket of both versions.
        case "TCP6": text.utf8.count <= 39 ? IPAddress(ipv6: text) : nil
        default: nil
        }
    }

    private static func port(_ text: Substring) -> UInt16? { UInt16(text).flatMap { String($0) == text ? $0 : nil } }
}
