import Encoding
import Fixtures
import Testing

@testable import API

@Suite("A PROXY line of version 1")
struct ProxyLineTests {
    private static func read(_ text: String) throws -> ProxyHeader.Reading { try ProxyHeader.read(Array(text.utf8)) }

    private static let four = "PROXY TCP4 203.0.113.5 192.0.2.1 49153 8440\r\n"
    private static let six = "PROXY TCP6 2001:db8::7 2001:db8::1 65535 0\r\n"
    private static let longest =
        "PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n"

    @Test("names the client of a TCP connection, and what follows belongs to the client")
    func addresses() throws {
        let client = ProxyHeader(source: .address(try #require(IPAddress("203.0.113.5")), port: 49_153))
        #expect(try Self.read(Self.four + "\u{16}\u{3}") == .complete(client, length: Self.four.utf8.count))
        let other = ProxyHeader(source: .address(try #require(IPAddress("2001:db8::7")), port: 65_535))
        #expect(try Self.read(Self.six) == .complete(other, length: Self.six.utf8.count))
    }

    @Test("names a client of IPv4 on a socket of both versions, as inet_ntop writes it, and it is counted as one")
    func mapped() throws {
        let line = "PROXY TCP6 ::ffff:203.0.113.5 ::FFFF:192.0.2.1 49153 8440\r\n"
        let address = try #require(IPAddress("::ffff:203.0.113.5"))
        #expect(address.description == "::ffff:203.0.113.5")
        #expect(IPAddress.limitKey(address) == IPAddress.limitKey(IPAddress("203.0.113.5")))
        let client = ProxyHeader(source: .address(address, port: 49_153))
        #expect(try Self.read(line) == .complete(client, length: line.utf8.count))
        for count in 0..<line.utf8.count {
            #expect(try ProxyHeader.read(line.utf8.prefix(count)) == .incomplete, "\(count)")
        }
    }

    @Test("of an unknown connection leaves the socket's address in force, whatever it says behind that")
    func unknown() throws {
        #expect(Self.longest.utf8.count == ProxyLine.maximumLength)
        for line in ["PROXY UNKNOWN\r\n", "PROXY UNKNOWN 1.2.3.4 what ever\r\n", Self.longest] {
            #expect(try Self.read(line) == .complete(ProxyHeader(source: .connection), length: line.utf8.count))
        }
    }

    @Test("is refused in every other form")
    func refused() {
        let cases: [(String, ProxyHeader.Defect)] = [
            ("PROXY\tTCP4", .signature), ("proxy TCP4", .signature), ("PROXY TCP4 203.0.113.5\n", .line),
            ("PROXY \r\n", .line), ("PROXY UNKNOWN\rX", .line), ("PROXY TCP4 203.0.113.5 192.0.2.1 1\r\n", .line),
            ("PROXY TCP4  203.0.113.5 192.0.2.1 1 2\r\n", .line), ("PROXY TCP4 1.2.3.4 192.0.2.1 1 2 \r\n", .line),
            ("PROXY TCP4 203.0.113.5 192.0.2.1 01 2\r\n", .line), ("PROXY TCP4 1.2.3.4 192.0.2.1 +1 2\r\n", .line),
            ("PROXY TCP4 203.0.113.5 192.0.2.1 65536 2\r\n", .line), ("PROXY TCP4 1.2.3.4 192.0.2.1 1 -2\r\n", .line),
            ("PROXY TCP4 203.0.113.05 192.0.2.1 1 2\r\n", .family), ("PROXY TCP4 2001:db8::7 ::1 1 2\r\n", .family),
            ("PROXY TCP4 203.0.113.5 192.0.2 1 2\r\n", .family), ("PROXY TCP6 1.2.3.4 192.0.2.1 1 2\r\n", .family),
            ("PROXY TCP6 ::ffff:203.0.113 ::1 1 2\r\n", .family), ("PROXY TCP6 ::ffff:1.2.3.04 ::1 1 2\r\n", .family),
            ("PROXY UDP4 1.2.3.4 192.0.2.1 1 2\r\n", .family),
            ("PROXY TCP4 203.0.113.5\u{0} 192.0.2.1 1 2\r\n", .line), ("PROXY TCP4 203.0.113.é", .line),
            (String(Self.longest.dropLast()) + "5\r\n", .length),
            ("PROXY UNKNOWN " + String(repeating: "x", count: 93), .length),
            ("PROXY UNKNOWN " + String(repeating: "x", count: 92) + "\r", .length),
        ]
        for (line, defect) in cases { #expect(throws: defect, "\(line.debugDescription)") { try Self.read(line) } }
    }

    @Test("is waited for, byte by byte")
    func partial() throws {
        for line in [Self.four, Self.six, Self.longest, "PROXY UNKNOWN\r\n"] {
            for count in 0..<line.utf8.count {
                #expect(try ProxyHeader.read(line.utf8.prefix(count)) == .incomplete, "\(count) of \(line)")
            }
        }
    }

    @Test("of twenty thousand mutilated ones none is read beyond its bound, and each prefix agrees with the whole")
    func fuzz() throws {
        var random = SeededRandom(seed: 0x5052_4F58)
        let seeds = [Self.four, Self.six, Self.longest, "PROXY UNKNOWN\r\n"].map { Array($0.utf8) }
        let bytes = Array(" \r\n0159afTCPUDP46:.é\u{0}\u{7F}+-xUNKNOWN".utf8)
        var read = 0
        for _ in 0..<20_000 {
            var line = seeds[Int.random(in: seeds.indices, using: &random)]
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                let place = Int.random(in: line.indices, using: &random)
                let byte = bytes[Int.random(in: bytes.indices, using: &random)]
                switch Int.random(in: 0..<3, using: &random) {
                case 0: line[place] = byte
                case 1: line.insert(byte, at: place)
                default: line.remove(at: place)
                }
            }
            let whole = Result { () throws(ProxyHeader.Defect) in try ProxyHeader.read(line) }
            let cut = Int.random(in: 0...line.count, using: &random)
            let part = Result { () throws(ProxyHeader.Defect) in try ProxyHeader.read(line.prefix(cut)) }
            switch (whole, part) {
            case (.success(.complete(_, let length)), .success(let partly)):
                read += 1
                #expect(length <= ProxyLine.maximumLength)
                #expect(cut < length ? partly == .incomplete : partly == (try? whole.get()))
            case (.success, .failure): Issue.record("a prefix is refused, and the whole is not: \(line)")
            case (.success(.incomplete), .success(let partly)): #expect(partly == .incomplete)
            case (.failure, .success(.complete)): Issue.record("a prefix is read, and the whole is not: \(line)")
            case (.failure, _): break
            }
        }
        #expect(read > 3000 && read < 18_000)
    }
}
