/// Finds RSA keys made by the chips of CVE-2017-15361 ("The Return of Coppersmith's Attack", Nemec et al., CCS 2017).
///
/// Their primes are `k · M + (65537^a mod M)` with `M` the product of the first primes. A modulus of two such primes
/// is therefore a power of 65537 modulo each small prime; a modulus of random primes is so, for all of these primes
/// at once, less than once in a hundred million.
public enum ROCA {
    /// A small prime, and as a set of bits the powers of 65537 modulo it.
    private struct Residues {
        let prime: UInt32
        private var low: (UInt64, UInt64, UInt64) = (0, 0, 0)

        init(_ prime: UInt32) {
            self.prime = prime
            var power: UInt32 = 1
            repeat {
                insert(power)
                power = power * (65_537 % prime) % prime
            } while power != 1
        }

        private mutating func insert(_ residue: UInt32) {
            switch residue / 64 {
            case 0: low.0 |= 1 << UInt64(residue % 64)
            case 1: low.1 |= 1 << UInt64(residue % 64)
            default: low.2 |= 1 << UInt64(residue % 64)
            }
        }

        func contains(_ residue: UInt32) -> Bool {
            let word = residue < 64 ? low.0 : residue < 128 ? low.1 : low.2
            return word >> UInt64(residue % 64) & 1 == 1
        }
    }

    /// The primes up to 167 (those of the shortest affected keys, hence of all) modulo which the powers of 65537 are few.
    private static let residues: [Residues] = [
        11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157,
    ].map(Residues.init)

    /// Whether a modulus has the fingerprint.
    ///
    /// - Parameter modulus: big-endian bytes, of any length.
    public static func isFingerprinted(modulus: [UInt8]) -> Bool {
        guard !modulus.isEmpty else { return false }
        return residues.allSatisfy { residues in
            residues.contains(modulus.reduce(UInt32(0)) { ($0 << 8 | UInt32($1)) % residues.prime })
        }
    }
}
