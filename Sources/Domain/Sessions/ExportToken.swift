import Crypto
import Encoding
import Foundation

/// A token that a banned user gets at sign-in. It permits reading and erasing the data about that user, from this
/// device and for ten minutes. It permits nothing else.
///
/// It is stateless: user ‖ expiry ‖ code over both and the device certificate.
package struct ExportToken: Sendable, Equatable {
    package let userID: UserID
    let expiresAt: Date

    /// Seconds from issue to expiry.
    static let lifetime: TimeInterval = 600
    /// Bytes: 16 user, 8 expiry, 32 code.
    private static let length = 56

    /// - Parameter thumbprint: that of the certificate to which it is bound.
    package static func issue(
        for user: UserID, now: Date, thumbprint: Digest256, key: ExportKey
    ) -> Secret<String> {
        var bytes = withUnsafeBytes(of: user.uuid.uuid) { Array($0) }
        let expiresAt = now.addingTimeInterval(lifetime)
        withUnsafeBytes(of: expiresAt.milliseconds.bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: key.code(over: bytes, thumbprint: thumbprint))
        return Secret(Base64URL.encode(bytes))
    }

    /// Parses and verifies a token from a device.
    ///
    /// - Throws: ``Refusal`` `session_required` if this service did not issue it to this certificate, `session_expired`
    ///   after its expiry.
    package init(shown text: String, thumbprint: Digest256, key: ExportKey, now: Date) throws(Refusal) {
        guard text.utf8.count == 75, let bytes = Base64URL.decode(text), bytes.count == Self.length,
            ([key] + key.others).contains(where: {
                constantTimeEqual(bytes[24...], $0.code(over: bytes[..<24], thumbprint: thumbprint))
            })
        else { throw Refusal.exportTokenUnknown }
        userID = UserID(bytes[..<16].withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
        expiresAt = Date(milliseconds: bytes[16..<24].reduce(Int64(0)) { $0 << 8 | Int64($1) })
        guard now < expiresAt else {
            throw Refusal.exportTokenExpired
        }
    }
}

/// The key that authenticates export tokens. All nodes of a service have the same key.
package struct ExportKey: Sendable {
    private let key: SymmetricKey
    /// The keys of the next and the former secret during a rotation, which only verify.
    fileprivate let others: [ExportKey]

    /// Derives the key (HKDF, RFC 5869) from the secret in `Keys/nonce.key` and the store's generation of nonces. A
    /// restore changes the generation, so tokens from before a restore are not valid.
    ///
    /// - Parameter others: the secrets whose tokens are accepted too.
    package init(_ secret: Secret<[UInt8]>, others: [Secret<[UInt8]>] = [], generation: String = "") {
        self.others = others.map { ExportKey($0, generation: generation) }
        key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret.reveal()), salt: Data(generation.utf8),
            info: Data("countersign export token".utf8),
            outputByteCount: 32)
    }

    fileprivate func code(over bytes: some DataProtocol, thumbprint: Digest256) -> [UInt8] {
        var code = HMAC<SHA256>(key: key)
        code.update(data: bytes)
        code.update(data: thumbprint.bytes)
        return Array(code.finalize())
    }
}
