import Crypto
import Encoding
import Foundation

/// What a banned user is given at sign-in: it shows what is held on that user and erases it, from this device, for ten
/// minutes, and opens nothing else.
///
/// It is stateless: user ‖ expiry ‖ code over both and the device certificate.
package struct ExportToken: Sendable, Equatable {
    package let userID: UserID
    /// From when on it is refused.
    package let expiresAt: Date

    /// Seconds from issue to expiry.
    package static let lifetime: TimeInterval = 600
    /// 16 user, 8 expiry, 32 code.
    private static let length = 56

    /// Makes the text of a new one.
    ///
    /// - Parameter thumbprint: of the certificate that it is bound to.
    package static func issue(
        for user: UserID, now: Date, thumbprint: Digest256, key: ExportKey
    ) -> Secret<String> {
        var bytes = withUnsafeBytes(of: user.uuid.uuid) { Array($0) }
        let expiresAt = now.addingTimeInterval(lifetime)
        withUnsafeBytes(of: expiresAt.milliseconds.bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: key.code(over: bytes, thumbprint: thumbprint))
        return Secret(Base64URL.encode(bytes))
    }

    /// Reads what a device shows.
    ///
    /// - Throws: ``Refusal`` `session_required` for what this service did not give to this certificate,
    ///   `session_expired` where it is over.
    package init(shown text: String, thumbprint: Digest256, key: ExportKey, now: Date) throws(Refusal) {
        guard text.utf8.count == 75, let bytes = Base64URL.decode(text), bytes.count == Self.length,
            constantTimeEqual(bytes[24...], key.code(over: bytes[..<24], thumbprint: thumbprint))
        else { throw Refusal.exportTokenUnknown }
        userID = UserID(bytes[..<16].withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
        expiresAt = Date(milliseconds: bytes[16..<24].reduce(Int64(0)) { $0 << 8 | Int64($1) })
        guard now < expiresAt else {
            throw Refusal.exportTokenExpired
        }
    }
}

/// The key under which export tokens are made: the same on all nodes of one service.
package struct ExportKey: Sendable {
    private let key: SymmetricKey

    /// Derives the key in use (HKDF, RFC 5869) from the secret in `Keys/nonce.key` and the store's generation of nonces:
    /// what was given out before a restore is not recognized after it.
    package init(_ secret: Secret<[UInt8]>, generation: String = "") {
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
