import Domain
import Encoding
import Testing

@Suite("A network of addresses")
struct AddressNetworkTests {
    @Test("holds the addresses under its prefix, of either family, mapped or not")
    func contains() throws {
        let cases: [(String, [String], [String])] = [
            ("10.0.0.0/8", ["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3"], ["11.0.0.0", "9.255.255.255", "::1"]),
            ("192.0.2.128/25", ["192.0.2.128", "192.0.2.255"], ["192.0.2.127", "192.0.3.128"]),
            ("127.0.0.1/32", ["127.0.0.1"], ["127.0.0.2", "::1"]),
            ("0.0.0.0/0", ["1.2.3.4", "::ffff:1.2.3.4"], ["2001:db8::1"]),
            ("2001:db8::/32", ["2001:db8::1", "2001:db8:ffff::"], ["2001:db9::", "10.0.0.1"]),
            ("::1/128", ["::1"], ["::2", "127.0.0.1"]), ("::/0", ["::1", "10.0.0.1"], []),
        ]
        for (text, inside, outside) in cases {
            let network = AddressNetwork(text)
            #expect(network?.description == text)
            for address in try inside.map({ try #require(IPAddress($0)) }) {
                #expect(network?.contains(address) == true, "\(address) in \(text)")
            }
            for address in try outside.map({ try #require(IPAddress($0)) }) {
                #expect(network?.contains(address) == false, "\(address) in \(text)")
            }
        }
    }

    @Test(
        "is written in CIDR notation, with no bit beyond the prefix",
        arguments: [
            "", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.1/8", "10.0.0/8", "10.0.0.0/08", "10.0.0.0/-1",
            "10.0.0.0/8/8", "::/129", "2001:db8::1/64", "/8", "example/8", "10.0.0.0/+8", " 10.0.0.0/8",
        ])
    func refused(text: String) {
        #expect(AddressNetwork(text) == nil)
    }
}
