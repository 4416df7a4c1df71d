import Crypto
import Foundation

/// A SHA-256 value (FIPS 180-4) in four words, so that a million of them need no heap.
public struct Digest256: Hashable, Sendable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    private init(_ digest: SHA256Digest) {
        words = digest.withUnsafeBytes { $0.loadUnaligned(as: (UInt64, UInt64, UInt64, UInt64).self) }
    }
}

public extension Digest256 {
    static func of(_ bytes: some DataProtocol) -> Digest256 {
        Digest256(SHA256.hash(data: bytes))
    }

    static func of(_ text: String) -> Digest256 {
        var text = text
        return text.withUTF8 { of(UnsafeRawBufferPointer($0)) }
    }

    /// The digest of bytes in memory.
    static func of(_ bytes: UnsafeRawBufferPointer) -> Digest256 {
        var hash = SHA256()
        hash.update(bufferPointer: bytes)
        return Digest256(hash.finalize())
    }

    /// Takes exactly 32 bytes; `nil` for any other number.
    init?(_ bytes: some Collection<UInt8>) {
        let array = Array(bytes)
        guard array.count == 32 else { return nil }
        words = array.withUnsafeBytes { $0.loadUnaligned(as: (UInt64, UInt64, UInt64, UInt64).self) }
    }

    /// The 32 bytes in order.
    var bytes: [UInt8] {
        withUnsafeBytes(of: words) { Array($0) }
    }

    /// The form of `x5t#S256` (RFC 8705 §3.1): base64url without padding.
    var base64URL: String { Base64URL.encode(bytes) }

    /// Its first 64 bits, in this machine's order: a number that nobody chooses.
    var firstWord: UInt64 { words.0 }

    /// Equal if all 256 bits are.
    static func == (left: Digest256, right: Digest256) -> Bool {
        left.words == right.words
    }

    /// A digest is uniform already, so its first word is enough for the hasher.
    func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
    }
}
