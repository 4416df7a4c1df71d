import Encoding

/// A PROXY protocol header of either version, with which a proxy reports whose connection it forwards (haproxy's
/// proxy-protocol.txt §2). Version 2 is parsed here, version 1 in ``ProxyLine``.
struct ProxyHeader: Equatable, Sendable {
    enum Source: Equatable, Sendable {
        /// The proxy's own connection, such as a health check, or one without an address: use the socket's address.
        case connection
        case address(IPAddress, port: UInt16)
    }

    /// Why bytes are not a valid header.
    enum Defect: Error, Equatable {
        case signature
        case version
        case command
        case family
        /// Longer than one segment of any network, or too short for the announced addresses.
        case length
        /// A malformed line of version 1.
        case line
    }

    /// The result of parsing the first bytes.
    enum Reading: Equatable {
        /// More bytes are needed to decide.
        case incomplete
        /// A header of this length. The bytes after it are the client's.
        case complete(ProxyHeader, length: Int)
    }

    let source: Source

    /// The longest accepted header, bytes: it fits the smallest segment that IPv6 guarantees (§2.2).
    static let maximumLength = 536
    static let fixedLength = 16
    static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]

    /// Parses the beginning of a connection. Refuses at the first wrong byte; skips TLVs after the addresses.
    static func read(_ bytes: some Collection<UInt8>) throws(Defect) -> Reading {
        let start = Array(bytes.prefix(maximumLength))
        if start.first == ProxyLine.prefix.first { return try ProxyLine.read(start) }
        guard signature.starts(with: start.prefix(signature.count)) else { throw .signature }
        guard start.count > signature.count else { return .incomplete }
        guard start[12] >> 4 == 2 else { throw .version }
        let command = start[12] & 0x0F
        guard command <= 1 else { throw .command }
        guard start.count >= fixedLength else { return .incomplete }
        let rest = Int(start[14]) << 8 | Int(start[15])
        let length = fixedLength + rest
        guard length <= maximumLength else { throw .length }
        let needed = try addressLength(family: start[13], isLocal: command == 0)
        guard rest >= needed else { throw .length }
        guard start.count >= length else { return .incomplete }
        let source = command == 0 ? .connection : source(family: start[13], Array(start[fixedLength..<length]))
        return .complete(ProxyHeader(source: source), length: length)
    }

    /// The length of the addresses of a family and transport; a receiver discards them with LOCAL.
    private static func addressLength(family: UInt8, isLocal: Bool) throws(Defect) -> Int {
        if isLocal { return 0 }
        return switch family {
        case 0x00: 0
        case 0x11, 0x12: 12
        case 0x21, 0x22: 36
        case 0x31, 0x32: 216
        default: throw .family
        }
    }

    /// Only a TCP connection has a client's address to count by; for the others §2.2 requires the socket's.
    private static func source(family: UInt8, _ addresses: [UInt8]) -> Source {
        let length =
            switch family {
            case 0x11: 4
            case 0x21: 16
            default: 0
            }
        // The two addresses are followed by the two ports.
        guard let address = IPAddress(bytes: addresses.prefix(length)) else { return .connection }
        let port = addresses.dropFirst(2 * length).prefix(2).reduce(0) { $0 << 8 | UInt16($1) }
        return .address(address, port: port)
    }
}
