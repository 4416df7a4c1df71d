import Encoding
import SwiftASN1
import X509

/// A host name in a server certificate: a DNS name or an IP address (RFC 9525 §2).
struct ServerName {
    /// The entry in the subject alternative names.
    let generalName: GeneralName

    /// Parses a host.
    ///
    /// - Throws: ``AuthorityError/invalidName(_:)``.
    init(_ host: String) throws(AuthorityError) {
        if let address = IPAddress(host) {
            generalName = .ipAddress(ASN1OctetString(contentBytes: address.bytes[...]))
        } else if Self.isDNSName(host) {
            generalName = .dnsName(host.lowercased())
        } else {
            throw .invalidName(host)
        }
    }

    /// RFC 1123 §2.1 with the wildcard of RFC 9525 §6.3: labels of letters, digits and inner hyphens, not all numeric.
    private static func isDNSName(_ host: String) -> Bool {
        let name = host.hasPrefix("*.") ? host.dropFirst(2) : host[...]
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...253).contains(host.utf8.count), let last = labels.last, !last.allSatisfy(isDigit) else {
            return false
        }
        return labels.allSatisfy { label in
            (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
                && label.allSatisfy { byte in
                    isDigit(byte) || byte == UInt8(ascii: "-")
                        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
