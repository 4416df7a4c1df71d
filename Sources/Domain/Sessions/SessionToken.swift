import Encoding
import Foundation

/// A session's bearer token: the session's id, by which the store finds it, and 256 random bits that only the device
/// keeps. The store has the SHA-256 of the text.
package struct SessionToken: Sendable {
    /// The text form, base64url. The device receives it once, and the service does not keep it.
    package let text: Secret<String>
    package let hash: Digest256
    /// The session that it names.
    package let sessionID: SessionID

    /// 16 bytes of the id, 32 random bytes. The length has no unused bits, so each token has only one text.
    private static let characters = 64
}

package extension SessionToken {
    /// - Parameter randomBytes: 32 bytes of a cryptographic generator.
    init(of sessionID: SessionID, randomBytes: [UInt8]) {
        let text = Base64URL.encode(withUnsafeBytes(of: sessionID.uuid.uuid) { Array($0) } + randomBytes)
        self.text = Secret(text)
        self.sessionID = sessionID
        hash = Digest256.of(text)
    }

    /// Parses a token from a device; `nil` for anything else. The length is checked first, so that no long text is
    /// hashed.
    init?(shown text: String) {
        var shown = text
        guard let hash = shown.withUTF8({ Self.hash(ofShown: UnsafeRawBufferPointer($0)) }),
            let bytes = Base64URL.decode(text)
        else { return nil }
        sessionID = SessionID(bytes[..<16].withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
        self.text = Secret(text)
        self.hash = hash
    }

    /// The hash of a token from a device; `nil` for anything else.
    static func hash(ofShown text: UnsafeRawBufferPointer) -> Digest256? {
        text.count == characters ? Digest256.of(text) : nil
    }
}
