import Foundation
import NIOCore

/// The sender's address as limits count it: an IPv4 address alone, an IPv6 network of /64.
enum PeerAddress {
    /// The limit's key; all senders without an IP address share one.
    static func limitKey(_ address: SocketAddress?) -> String {
        guard let text = address?.ipAddress else { return "local" }
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 { return text }
        guard inet_pton(AF_INET6, text, &bytes) == 1 else { return "local" }
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        return isMapped ? dotted(bytes[12...]) : dotted(bytes[..<8]) + "/64"
    }

    private static func dotted(_ bytes: ArraySlice<UInt8>) -> String {
        bytes.map(String.init).joined(separator: ".")
    }
}
