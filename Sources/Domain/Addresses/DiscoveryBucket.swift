import Crypto
import Foundation

package extension DiscoveryBucket.Entry {
    static let tagLength = 16
    static let length = 32

    /// - Parameter output: the function's output for the user's number, 48 bytes.
    init(output: [UInt8], user: UserID) {
        tag = Array(output.prefix(Self.tagLength))
        let id = withUnsafeBytes(of: user.uuid.uuid) { Array($0) }
        masked = zip(id, output.suffix(16)).map { $0 ^ $1 }
    }

    var bytes: [UInt8] { tag + masked }
}

/// A part of a provider's findable numbers: all whose tags begin with the same bits. Those bits are all that a device
/// reveals of the number that it looks for.
package struct DiscoveryBucket: Sendable, Equatable {
    /// How many bits name a bucket, 0 to 8.
    let bits: Int
    let number: Int
}

package extension DiscoveryBucket {
    /// `nil` if there is no such bucket.
    init?(_ number: Int, bits: Int) {
        guard (0...Self.maximumBits).contains(bits), (0..<(1 << bits)).contains(number) else { return nil }
        (self.number, self.bits) = (number, bits)
    }

    /// A findable number as devices download it: a tag by which they find it, and the masked user id. Both are derived from
    /// the function's output. Only a device that knows the number and requested its output can read the id.
    struct Entry: Sendable, Equatable {
        /// The first 16 bytes of the output. Its first bits are the number of the bucket.
        package let tag: [UInt8]
        /// The id's 16 bytes, XOR the output's last 16.
        package let masked: [UInt8]

        package init(tag: [UInt8], masked: [UInt8]) {
            (self.tag, self.masked) = (tag, masked)
        }
    }

    /// Minimum number of entries of a bucket; missing ones are filled with decoys.
    static let minimum = 4096
    /// The largest number of bits that a device reveals.
    static let maximumBits = 8

    /// The number of bits that leaves at least ``minimum`` entries in each bucket.
    ///
    /// - Parameter entries: the number of all entries.
    static func bits(of entries: Int) -> Int {
        (0...maximumBits).last { entries >> $0 >= minimum } ?? 0
    }

    /// The first tag of the bucket, and the first one after the bucket; `nil` after the last bucket.
    var tags: (from: [UInt8], to: [UInt8]?) {
        let shift = Self.maximumBits - bits
        let rest = [UInt8](repeating: 0, count: Entry.tagLength - 1)
        let end = UInt8(exactly: (number + 1) << shift).map { [$0] + rest }
        return ([UInt8(truncatingIfNeeded: number << shift)] + rest, end)
    }

    /// Fills the bucket with decoys, which only the key's holder can distinguish from entries. Each download has the
    /// same decoys, so two downloads do not reveal them.
    ///
    /// - Parameter secret: the key of the week.
    func padded(_ entries: [Entry], secret: SymmetricKey) throws -> [Entry] {
        guard entries.count < Self.minimum else { return entries }
        let zeros = [UInt8](repeating: 0, count: (Self.minimum - entries.count) * Entry.length)
        let nonce = [UInt8](repeating: 0, count: 10) + [UInt8(bits), UInt8(truncatingIfNeeded: number)]
        let noise = Array(
            try ChaChaPoly.seal(zeros, using: secret, nonce: ChaChaPoly.Nonce(data: nonce)).ciphertext)
        let shift = Self.maximumBits - bits
        let made = stride(from: 0, to: noise.count, by: Entry.length).map { place in
            var bytes = Array(noise[place..<place + Entry.length])
            let free = UInt8(truncatingIfNeeded: (1 << shift) - 1)
            bytes[0] = UInt8(truncatingIfNeeded: number << shift) | bytes[0] & free
            return Entry(
                tag: Array(bytes.prefix(Entry.tagLength)),
                masked: Array(bytes.suffix(Entry.length - Entry.tagLength)))
        }
        return (entries + made).sorted { $0.tag.lexicographicallyPrecedes($1.tag) }
    }
}
