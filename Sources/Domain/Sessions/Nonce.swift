import Crypto
import Encoding
import Foundation

/// A number that is accepted once, by one device, for a short time (RFC 7616 §5.4 calls it so).
///
/// It is stateless until spent: random ‖ expiry ‖ tag of the device ‖ authentication code over all three. The tag is
/// apart so that a device that shows another's nonce can be told so, and a forged one cannot be told from noise.
package struct Nonce: Sendable, Equatable {
    package let randomBytes: [UInt8]
    /// SHA-256 of its bytes, of which there may be several texts.
    let digest: Digest256
    /// From when on it is refused, by the store's clock in the spending transaction.
    package let expiresAt: Date
    /// The generation in which this process knows nonces: whoever spends it compares that with the store's.
    package let generation: String
    private let cell: Cell

    /// 16 random, 8 expiry, 8 device tag, 16 code.
    private static let length = 48

    /// Makes the text of a new nonce.
    ///
    /// - Parameter randomBytes: 16 bytes that come from outside.
    package static func issue(
        randomBytes: [UInt8], expiresAt: Date, thumbprint: Digest256, key: NonceKey
    ) -> String {
        var bytes = randomBytes.prefix(16)
        withUnsafeBytes(of: expiresAt.milliseconds.bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: key.deviceTag(of: thumbprint, randomBytes: randomBytes))
        bytes.append(contentsOf: key.code(over: bytes))
        return Base64URL.encode(bytes)
    }

    /// Reads a nonce that a token carries.
    ///
    /// - Throws: ``Refusal`` `invalid_identity_token` with reason `nonce_unknown` for what this service did not issue,
    ///   `nonce_other_device` for what it issued to another certificate. Expiry is not judged here.
    package init(shown text: String, thumbprint: Digest256, key: NonceKey) throws(Refusal) {
        guard let bytes = Self.authentic(text, key: key) else {
            throw Refusal.nonceUnknown
        }
        self.init(authentic: bytes, key)
        guard constantTimeEqual(bytes[24..<32], key.deviceTag(of: thumbprint, randomBytes: randomBytes)) else {
            throw Refusal.nonceOfAnotherDevice
        }
    }

    /// Reads a nonce without asking whose it is; `nil` for what this service did not issue. Opens nothing: it serves
    /// a provider that checks its token where the device is not at hand.
    package init?(issuedHere text: String, key: NonceKey) {
        guard let bytes = Self.authentic(text, key: key) else { return nil }
        self.init(authentic: bytes, key)
    }

    private static func authentic(_ text: String, key: NonceKey) -> [UInt8]? {
        guard text.utf8.count == 64, let bytes = Base64URL.decode(text), bytes.count == length,
            constantTimeEqual(bytes[32...], key.code(over: bytes[..<32]))
        else { return nil }
        return bytes
    }

    private init(authentic bytes: [UInt8], _ key: NonceKey) {
        (generation, cell) = (key.generation, key.cell)
        randomBytes = Array(bytes[..<16])
        expiresAt = Date(milliseconds: bytes[16..<24].reduce(Int64(0)) { $0 << 8 | Int64($1) })
        digest = Digest256.of(bytes)
    }

    /// The id of the one row that it is spent by, whatever it is spent for: its expiry in milliseconds, the cell and
    /// 62 bits of its digest. Made of what this service issued alone, since its code was verified.
    package var sessionID: SessionID {
        SessionID(cell.orderedID(at: expiresAt, digest.bytes.prefix(8)))
    }
}

extension Session {
    /// The ended session by which a nonce is spent that opens none: for a renewal, a proof of presence, or a banned user.
    ///
    /// - Parameter holder: whose nonce it was.
    package init(spending nonce: Nonce, of holder: Session, at now: Date) {
        self.init(
            id: nonce.sessionID, tokenHash: nonce.digest, userID: holder.userID, providerID: holder.providerID,
            externalID: holder.externalID, applicationID: holder.applicationID, deviceID: holder.deviceID,
            thumbprint: holder.thumbprint, providerKeyID: holder.providerKeyID, state: .unauthenticated,
            createdAt: now, renewedAt: now, lastUsedAt: now, challengedAt: nil)
    }
}

/// The key under which nonces are made: the same on all nodes of one service.
package struct NonceKey: Sendable {
    private let codeKey: SymmetricKey
    /// Each with its key taken in already, which costs as much as a short text: copies go on from there.
    private let code: HMAC<SHA256>
    private let tag: HMAC<SHA256>
    /// The store's generation of nonces, in which it was made.
    package let generation: String
    /// The cell of the sessions that its nonces open.
    fileprivate let cell: Cell

    /// Derives the two keys in use (HKDF, RFC 5869) from the secret in `Keys/nonce.key`, salted with the store's
    /// generation of nonces: what was issued before a restore is not recognized after it.
    package init(_ secret: Secret<[UInt8]>, generation: String, in cell: Cell) {
        let input = SymmetricKey(data: secret.reveal())
        func derive(_ label: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: input, salt: Data(generation.utf8), info: Data(label.utf8), outputByteCount: 32)
        }
        self.generation = generation
        self.cell = cell
        codeKey = derive("countersign nonce code")
        code = HMAC(key: codeKey)
        tag = HMAC(key: derive("countersign nonce device"))
    }

    fileprivate func code(over bytes: some DataProtocol) -> [UInt8] {
        var code = code
        code.update(data: bytes)
        return Array(code.finalize().prefix(16))
    }

    /// By which nodes tell whether they have the same secret in the same generation.
    package var fingerprint: Digest256 { NodeFingerprints.digest(of: codeKey, .nonceKey) }

    fileprivate func deviceTag(of thumbprint: Digest256, randomBytes: [UInt8]) -> [UInt8] {
        var tag = tag
        tag.update(data: randomBytes)
        tag.update(data: thumbprint.bytes)
        return Array(tag.finalize().prefix(8))
    }
}
