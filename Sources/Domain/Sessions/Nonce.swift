import Crypto
import Encoding
import Foundation

/// A random value that is accepted once, from one device, for a short time (RFC 7616 §5.4 uses the term).
///
/// It is stateless until spent: random ‖ expiry ‖ tag of the device ‖ authentication code over all three. The separate
/// tag lets the refusal distinguish a nonce of another device from a forged one.
package struct Nonce: Sendable, Equatable {
    let randomBytes: [UInt8]
    /// SHA-256 of its bytes. Several texts can encode the same bytes.
    let digest: Digest256
    /// When it expires, by the store's clock in the spending transaction.
    package let expiresAt: Date
    /// The generation of the key that verified it. It is compared with the store's when the nonce is spent.
    package let generation: String
    private let cell: Cell

    /// Bytes: 16 random, 8 expiry, 8 device tag, 16 code.
    private static let length = 48

    private init(authentic bytes: [UInt8], _ key: NonceKey) {
        (generation, cell) = (key.generation, key.cell)
        randomBytes = Array(bytes[..<16])
        expiresAt = Date(milliseconds: bytes[16..<24].reduce(Int64(0)) { $0 << 8 | Int64($1) })
        digest = Digest256.of(bytes)
    }
}

package extension Nonce {
    /// - Parameter randomBytes: 16 bytes of a cryptographic generator.
    static func issue(
        randomBytes: [UInt8], expiresAt: Date, thumbprint: Digest256, key: NonceKey
    ) -> String {
        var bytes = randomBytes.prefix(16)
        withUnsafeBytes(of: expiresAt.milliseconds.bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: key.deviceTag(of: thumbprint, randomBytes: randomBytes))
        bytes.append(contentsOf: key.code(over: bytes))
        return Base64URL.encode(bytes)
    }

    /// Parses and verifies the nonce in a token. The caller must check the expiry.
    ///
    /// - Throws: ``Refusal`` `invalid_identity_token` with reason `nonce_unknown` if this service did not issue it,
    ///   `nonce_other_device` if it was issued to another certificate.
    init(shown text: String, thumbprint: Digest256, key: NonceKey) throws(Refusal) {
        guard let (bytes, key) = Self.authentic(text, key: key) else {
            throw Refusal.nonceUnknown
        }
        self.init(authentic: bytes, key)
        guard constantTimeEqual(bytes[24..<32], key.deviceTag(of: thumbprint, randomBytes: randomBytes)) else {
            throw Refusal.nonceOfAnotherDevice
        }
    }

    /// Verifies a nonce without its device; `nil` if this service did not issue it. It does not allow a sign-in: a
    /// provider uses it to check its token while the device is not connected.
    init?(issuedHere text: String, key: NonceKey) {
        guard let (bytes, key) = Self.authentic(text, key: key) else { return nil }
        self.init(authentic: bytes, key)
    }

    /// The bytes of a nonce, and the key that it was made with: the current one, or another during a rotation.
    private static func authentic(_ text: String, key: NonceKey) -> (bytes: [UInt8], key: NonceKey)? {
        guard text.utf8.count == 64, let bytes = Base64URL.decode(text), bytes.count == length else { return nil }
        func isOf(_ key: NonceKey) -> Bool { constantTimeEqual(bytes[32...], key.code(over: bytes[..<32])) }
        if isOf(key) { return (bytes, key) }
        return key.others.first(where: isOf).map { (bytes, $0) }
    }

    /// The form in which it is remembered as spent if no row of a session does so.
    var spentText: String { digest.base64URL }

    /// The id of the row that marks the nonce as spent, for every use: its expiry in milliseconds, the cell and 62 bits
    /// of its digest. A client cannot choose it, because the service issued the nonce.
    var sessionID: SessionID {
        SessionID(cell.orderedID(at: expiresAt, digest.bytes.prefix(8)))
    }
}

package extension Session {
    /// The ended session that marks a nonce as spent if it opens no session: for a renewal, a proof of presence, or a
    /// banned user.
    ///
    /// - Parameter holder: the session whose nonce it was.
    init(spending nonce: Nonce, of holder: Session, at now: Date) {
        self.init(
            id: nonce.sessionID, tokenHash: nonce.digest, userID: holder.userID, providerID: holder.providerID,
            externalID: holder.externalID, applicationID: holder.applicationID, deviceID: holder.deviceID,
            thumbprint: holder.thumbprint, providerKeyID: holder.providerKeyID, state: .unauthenticated,
            createdAt: now, renewedAt: now, lastUsedAt: now, challengedAt: nil)
    }
}

/// The key that authenticates nonces. All nodes of a service have the same key.
package struct NonceKey: Sendable {
    private let codeKey: SymmetricKey
    /// The HMACs after their key block, which costs as much as a short text. Each computation starts with a copy.
    private let code: HMAC<SHA256>
    private let tag: HMAC<SHA256>
    /// The store's generation of nonces for which it was derived.
    package let generation: String
    /// The cell in the ids of sessions that its nonces open.
    fileprivate let cell: Cell
    /// The keys of the next and the former secret during a rotation, which only verify.
    fileprivate let others: [NonceKey]
}

package extension NonceKey {
    /// Derives the two keys (HKDF, RFC 5869) from the secret in `Keys/nonce.key`, salted with the store's generation of
    /// nonces. A restore changes the generation, so nonces from before a restore are not valid.
    ///
    /// - Parameter others: the secrets whose nonces are accepted too.
    init(
        _ secret: Secret<[UInt8]>, others: [Secret<[UInt8]>] = [], generation: String, in cell: Cell
    ) {
        let input = SymmetricKey(data: secret.reveal())
        func derive(_ label: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: input, salt: Data(generation.utf8), info: Data(label.utf8), outputByteCount: 32)
        }
        self.generation = generation
        self.cell = cell
        self.others = others.map { NonceKey($0, generation: generation, in: cell) }
        codeKey = derive("countersign nonce code")
        code = HMAC(key: codeKey)
        tag = HMAC(key: derive("countersign nonce device"))
    }

    fileprivate func code(over bytes: some DataProtocol) -> [UInt8] {
        var code = code
        code.update(data: bytes)
        return Array(code.finalize().prefix(16))
    }

    /// The digest by which nodes compare their secret and generation.
    var fingerprint: Digest256 { NodeFingerprints.digest(of: codeKey, .nonceKey) }

    /// The digests of all keys that it verifies with: the current one, 1, followed by the others.
    var fingerprints: [Int: Digest256] {
        Dictionary(
            uniqueKeysWithValues: ([fingerprint] + others.map(\.fingerprint)).enumerated().map { ($0 + 1, $1) })
    }

    fileprivate func deviceTag(of thumbprint: Digest256, randomBytes: [UInt8]) -> [UInt8] {
        var tag = tag
        tag.update(data: randomBytes)
        tag.update(data: thumbprint.bytes)
        return Array(tag.finalize().prefix(8))
    }
}
