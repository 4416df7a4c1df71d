import Encoding
import Fixtures
import Foundation
import Testing

@testable import Delivery

@Suite("Addresses of receivers")
struct HostAddressesTests {
    @Test("count as public only where Python's ipaddress calls them global, over edges and random ones")
    func global() async throws {
        var random = SeededRandom(seed: 11)
        var addresses: [[UInt8]] = [
            [127, 0, 0, 1], [10, 0, 0, 1], [169, 254, 169, 254], [100, 64, 0, 1], [192, 168, 1, 1],
            [172, 31, 255, 255],
            [172, 32, 0, 0], [8, 8, 8, 8], [0, 0, 0, 0], [255, 255, 255, 255], [198, 18, 0, 1], [203, 0, 113, 7],
        ]
        let tails = [UInt8](repeating: 0, count: 11) + [1]
        for head in [
            [0x20, 0x01, 0x0D, 0xB8], [0x20, 0x01, 0, 0], [0x26, 0x06, 0x47, 0], [0xFC, 0, 0, 0], [0xFE, 0x80, 0, 0],
            [0, 0, 0, 0], [0x20, 0x02, 0x7F, 0], [0xFF, 2, 0, 0], [0, 0x64, 0xFF, 0x9B],
        ] as [[UInt8]] { addresses.append(head + tails) }
        addresses.append([UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 127, 0, 0, 1])
        for index in 0..<20_000 {
            addresses.append((0..<(index % 2 == 0 ? 4 : 16)).map { _ in UInt8.random(in: 0...255, using: &random) })
        }
        let program = """
            import ipaddress, sys
            for line in sys.stdin:
                print(int(ipaddress.ip_address(bytes.fromhex(line.strip())).is_global))
            """
        let input = addresses.map { $0.map { String(format: "%02x", $0) }.joined() }.joined(separator: "\n")
        let result = try await Command.run(
            try Command.python("python"), ["-c", program], input: Data(input.utf8))
        let verdicts = result.output.split(separator: "\n")
        try #require(verdicts.count == addresses.count)
        for (address, verdict) in zip(addresses, verdicts) {
            // What is not global must never be spoken to; that some global addresses are left out harms nobody.
            if try #require(IPAddress(bytes: address)).isPublic { #expect(verdict == "1", "\(address)") }
        }
        #expect(IPAddress(bytes: [8, 8, 8, 8])?.isPublic == true)
        #expect(IPAddress(bytes: [0x26, 0x06, 0x47, 0] + tails)?.isPublic == true)
    }

    @Test("are all asked for, and this machine's are not public")
    func resolution() {
        for host in ["localhost", "127.0.0.1", "[::1]"] {
            let found = HostAddresses.resolve(host)
            #expect(!found.isEmpty && found.allSatisfy { !$0.isPublic })
        }
        #expect(HostAddresses.resolve("nothing.invalid").isEmpty)
    }
}
