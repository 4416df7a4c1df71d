import Encoding
import Testing

@testable import API

@Suite("A PROXY protocol header")
struct ProxyHeaderTests {
    /// Signature, version and command, family, length, and what follows.
    private static func header(
        _ command: UInt8, _ family: UInt8, _ rest: [UInt8], length: Int? = nil
    ) -> [UInt8] {
        let length = length ?? rest.count
        return ProxyHeader.signature + [command, family, UInt8(length >> 8), UInt8(length & 0xFF)] + rest
    }

    private static func header(_ family: UInt8, _ rest: [UInt8]) -> [UInt8] { header(0x21, family, rest) }

    private static let ipv4: [UInt8] = [203, 0, 113, 5, 192, 0, 2, 1, 0xC0, 0x01, 0x20, 0xF9]
    private static let ipv6: [UInt8] =
        [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [7] + [UInt8](repeating: 1, count: 16)
        + [0xC0, 0x01, 0x20, 0xF9]

    private static func source(_ bytes: [UInt8]) throws -> ProxyHeader.Source? {
        guard case .complete(let header, let length) = try ProxyHeader.read(bytes) else { return nil }
        #expect(length <= bytes.count)
        return header.source
    }

    private static func client(_ address: String) throws -> ProxyHeader.Source {
        .address(try #require(IPAddress(address)), port: 0xC001)
    }

    @Test("names the client of a TCP connection, and what follows belongs to the client")
    func addresses() throws {
        let four = Self.header(0x11, Self.ipv4)
        #expect(
            try ProxyHeader.read(four + [0x16, 0x03])
                == .complete(
                    ProxyHeader(source: Self.client("203.0.113.5")),
                    length: four.count))
        #expect(
            try Self.source(Self.header(0x21, Self.ipv6))
                == Self.client("2001:db8::7"))
    }

    @Test("skips what follows the addresses")
    func extensions() throws {
        let extensions: [UInt8] = [0x01, 0x00, 0x02, 0x68, 0x32, 0x04, 0x00, 0x01, 0x00]
        let bytes = Self.header(0x11, Self.ipv4 + extensions)
        #expect(
            try ProxyHeader.read(bytes)
                == .complete(
                    ProxyHeader(source: Self.client("203.0.113.5")),
                    length: bytes.count))
        let longest = Self.header(0x11, Self.ipv4 + [UInt8](repeating: 0, count: 536 - 16 - 12))
        #expect(longest.count == ProxyHeader.maximumLength)
        #expect(try Self.source(longest) == Self.client("203.0.113.5"))
    }

    @Test("of the proxy's own connection, or of no TCP, leaves the socket's address in force")
    func own() throws {
        for bytes in [
            Self.header(0x20, 0x00, []), Self.header(0x20, 0xFF, [1, 2, 3]), Self.header(0x21, 0x00, []),
            Self.header(0x21, 0x12, Self.ipv4), Self.header(0x21, 0x31, [UInt8](repeating: 0, count: 216)),
        ] {
            #expect(try Self.source(bytes) == .connection)
        }
    }

    @Test("is refused at the first byte that is wrong")
    func refused() {
        let cases: [([UInt8], ProxyHeader.Defect)] = [
            ([0x16], .signature), (Array("POST / HTTP/1.1\r\n".utf8), .signature),
            (ProxyHeader.signature + [0x11], .version), (ProxyHeader.signature + [0x31], .version),
            (ProxyHeader.signature + [0x22], .command), (Self.header(0x21, 0x41, Self.ipv4), .family),
            (Self.header(0x21, 0x11, Array(Self.ipv4.dropLast())), .length),
            (Self.header(0x21, 0x21, Self.ipv4), .length), (Self.header(0x21, 0x11, [], length: 521), .length),
            (Self.header(0x20, 0x00, [], length: 65_535), .length),
        ]
        for (bytes, defect) in cases {
            #expect(throws: defect, "\(bytes)") { try ProxyHeader.read(bytes) }
        }
    }

    @Test("is waited for, byte by byte")
    func partial() throws {
        let bytes = Self.header(0x21, Self.ipv6 + [0x04, 0x00, 0x00])
        for count in 0..<bytes.count {
            #expect(try ProxyHeader.read(bytes.prefix(count)) == .incomplete, "\(count)")
        }
        #expect(try Self.source(bytes) != nil)
    }

    @Test("of ten thousand mutilated ones none is read beyond its end, and each prefix agrees with the whole")
    func fuzz() throws {
        var state: UInt64 = 0x5052_4F58_5932
        func next(_ bound: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(bound))
        }
        let seeds = [
            Self.header(0x11, Self.ipv4), Self.header(0x21, Self.ipv6), Self.header(0x20, 0x00, []),
            Self.header(0x11, Self.ipv4 + [UInt8](repeating: 4, count: 100)),
        ]
        var read = 0
        for _ in 0..<10_000 {
            var bytes = seeds[next(seeds.count)]
            for _ in 0..<next(3) { bytes[next(bytes.count)] = UInt8(next(256)) }
            if next(4) == 0 { bytes.removeLast(next(bytes.count)) }
            if next(4) == 0 { bytes += (0..<next(700)).map { _ in UInt8(next(256)) } }
            let whole = Result { () throws(ProxyHeader.Defect) in try ProxyHeader.read(bytes) }
            let part = Result { () throws(ProxyHeader.Defect) in try ProxyHeader.read(bytes.prefix(next(600))) }
            switch (whole, part) {
            case (.success(.complete(_, let length)), _):
                read += 1
                #expect(length <= min(bytes.count, ProxyHeader.maximumLength))
                #expect(throws: Never.self) { try part.get() }
            case (.success(.incomplete), .success(.complete)), (.success(.incomplete), .failure):
                Issue.record("a prefix says more than the whole")
            default: break
            }
        }
        #expect(read > 1000)
    }
}
