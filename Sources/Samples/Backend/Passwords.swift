import Crypto
import CryptoExtras
import Foundation

/// Creates and checks hashes, one at a time, which limits the cost of a flood of log-ins to 16 MiB and one core.
package actor Passwords {
    /// Replaces an unknown user, so that the time of a response does not reveal who has an account.
    private let nobody = Hash(salt: Data.random(count: 16), hash: Data.random(count: 32))
    private let rounds: Int

    package init(_ sample: Sample) throws {
        guard let rounds = Int(sample.options["--scrypt-rounds"]), (2...16_384).contains(rounds),
            rounds.nonzeroBitCount == 1
        else { throw Options.Malformed(reason: "--scrypt-rounds must be a power of two from 2 to 16384") }
        self.rounds = rounds
    }
}

package extension Passwords {
    /// A salted hash of a password: scrypt (RFC 7914), by default with 16 MiB of memory for each guess, so that a stolen
    /// file is slow to search.
    struct Hash: Sendable {
        package let salt, hash: Data

        package init(salt: Data, hash: Data) { (self.salt, self.hash) = (salt, hash) }

        fileprivate init(_ password: String, salt: Data, rounds: Int) throws {
            self.salt = salt
            hash = try KDF.Scrypt.deriveKey(
                from: Data(password.precomposedStringWithCanonicalMapping.utf8), salt: salt, outputByteCount: 32,
                rounds: rounds, blockSize: 8, parallelism: 1
            ).withUnsafeBytes { Data($0) }
        }
    }

    func hash(_ password: String) throws -> Hash {
        try Hash(password, salt: .random(count: 16), rounds: rounds)
    }

    /// - Parameter known: `nil` for an unknown user. The result is then `false`, after an equal time.
    func check(_ password: String, against known: Hash?) throws -> Bool {
        let wanted = known ?? nobody
        let found = try Hash(password, salt: wanted.salt, rounds: rounds).hash
        // Every byte is compared, so that the time does not reveal how many were correct.
        let difference = zip(found, wanted.hash).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
        return found.count == wanted.hash.count && difference == 0 && known != nil
    }

    /// The option for the work of a hash, which is the same for all passwords of a store.
    static let option = ["--scrypt-rounds": "16384"]
}

package extension Data {
    /// Random bytes from a cryptographic generator.
    static func random(count: Int) -> Data {
        SymmetricKey(size: .init(bitCount: count * 8)).withUnsafeBytes { Data($0) }
    }
}
