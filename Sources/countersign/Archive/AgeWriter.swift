import Crypto
import Foundation

/// Writes a file that only its recipients can read, in the format of age (age-encryption.org/v1). A header gives each
/// recipient the file key. The content follows in authenticated chunks of 64 KiB, so changes are detected.
///
/// It has at most one chunk in memory, and no key that opens the file after it is finished.
struct AgeWriter {
    /// The number of plain bytes in each chunk except the last (STREAM).
    static let chunkSize = 65_536

    private let payloadKey: SymmetricKey
    private let sink: ([UInt8]) throws -> Void
    private var pending: [UInt8] = []
    private var counter: UInt64 = 0

    /// Writes the header.
    ///
    /// - Parameters:
    ///   - recipients: at least one.
    ///   - randomBytes: returns a number of bytes from a cryptographic generator.
    ///   - sink: receives the file's bytes in order.
    init(
        recipients: [AgeRecipient], randomBytes: (Int) -> [UInt8], sink: @escaping ([UInt8]) throws -> Void
    ) throws {
        let fileKey = SymmetricKey(data: randomBytes(16))
        let nonce = randomBytes(16)
        var header = "age-encryption.org/v1\n"
        for recipient in recipients { header += try recipient.stanza(wrapping: fileKey) }
        header += "---"
        let macKey = Self.derive(fileKey, salt: [], info: "header")
        let code = HMAC<SHA256>.authenticationCode(for: Data(header.utf8), using: macKey)
        payloadKey = Self.derive(fileKey, salt: nonce, info: "payload")
        self.sink = sink
        try sink(Array("\(header) \(Self.base64(Data(code)))\n".utf8) + nonce)
    }

    mutating func write(_ bytes: some Sequence<UInt8>) throws {
        pending.append(contentsOf: bytes)
        // The last chunk is marked, so a full one waits until more bytes come.
        var start = 0
        while pending.count - start > Self.chunkSize {
            try seal(pending[start..<(start + Self.chunkSize)], isLast: false)
            start += Self.chunkSize
        }
        pending.removeFirst(start)
    }

    /// Finishes the file; nothing may be written after that.
    mutating func finish() throws {
        try seal(pending[...], isLast: true)
        pending = []
    }

    private mutating func seal(_ chunk: ArraySlice<UInt8>, isLast: Bool) throws {
        let number = withUnsafeBytes(of: counter.bigEndian) { Array($0) }
        let nonce = try ChaChaPoly.Nonce(data: [0, 0, 0] + number + [isLast ? 1 : 0])
        let box = try ChaChaPoly.seal(chunk, using: payloadKey, nonce: nonce)
        counter += 1
        try sink(Array(box.ciphertext) + box.tag)
    }

    private static func derive(_ key: SymmetricKey, salt: [UInt8], info: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key, salt: salt, info: Data(info.utf8), outputByteCount: 32)
    }

    /// Base64 without padding (RFC 4648 §4), as in the header.
    static func base64(_ bytes: Data) -> String {
        bytes.base64EncodedString().replacing("=", with: "")
    }
}
