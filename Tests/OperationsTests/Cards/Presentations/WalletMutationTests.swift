import Fixtures
import Testing

@Suite("Readers of what wallets send, under random input")
struct WalletMutationTests {
    @Test("read their specimen", arguments: WalletMutation.Reader.allCases)
    func specimens(reader: WalletMutation.Reader) throws {
        let mutation = try WalletMutation(seed: 1)
        #expect(try mutation.read(mutation.specimen(of: reader), by: reader) == .read)
    }

    @Test("read or refuse every mutation of it", arguments: WalletMutation.Reader.allCases)
    func mutations(reader: WalletMutation.Reader) throws {
        var mutation = try WalletMutation(seed: UInt64.random(in: 0...UInt64.max))
        let rounds = Soak.count(400, soak: 20_000)
        var refused = 0
        for _ in 0..<rounds {
            let outcome = try mutation.read(mutation.input(for: reader), by: reader)
            if outcome == .refused { refused += 1 }
        }
        // Most mutations of CBOR are still CBOR, if their heads are whole.
        #expect(refused > rounds / 10)
    }

    @Test("get the same input for the same seed")
    func determinism() throws {
        var (one, other) = (try WalletMutation(seed: 3), try WalletMutation(seed: 3))
        for reader in WalletMutation.Reader.allCases {
            #expect(one.input(for: reader) == other.input(for: reader))
        }
    }
}
