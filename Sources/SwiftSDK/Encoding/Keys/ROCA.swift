/// The fingerprint of CVE-2017-15361 ("ROCA", Nemec et al., ACM CCS 2017): RSA moduli made by a faulty chip library,
/// which can be factored.
///
/// The library chose each prime as `k·M + (65537^a mod M)`. `M` is the product of the first small primes. Such a
/// modulus is a power of 65537 modulo each of those primes. A random modulus is one with a probability below 2⁻²⁷.
public enum ROCA {
    /// A small prime of the fingerprint, and the residues modulo it that are powers of 65537.
    private struct Residues: Sendable {
        let prime: UInt32
        let isPower: [Bool]

        init(prime: UInt32) {
            var isPower = [Bool](repeating: false, count: Int(prime))
            var power: UInt32 = 1
            repeat {
                isPower[Int(power)] = true
                power = power * (65_537 % prime) % prime
            } while power != 1
            self.prime = prime
            self.isPower = isPower
        }
    }

    /// The primes that divide `M` for every affected key size, 512 bits and up. Two is omitted, because every modulus
    /// is odd.
    private static let fingerprint: [Residues] = [
        3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109,
        113, 127, 131, 137, 139, 149, 151, 157, 163, 167,
    ].map(Residues.init)

    /// Whether a modulus, big-endian, has the fingerprint.
    public static func isFingerprinted(modulus: [UInt8]) -> Bool {
        fingerprint.allSatisfy { residues in
            let remainder = modulus.reduce(0) { ($0 << 8 | UInt32($1)) % residues.prime }
            return residues.isPower[Int(remainder)]
        }
    }
}
