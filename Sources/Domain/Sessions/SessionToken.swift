import Encoding
import Foundation

/// The bearer half of a session: its id, by which the store finds it, and 256 random bits that only the device keeps. The
/// store holds the SHA-256 of the text.
package struct SessionToken: Sendable {
    /// The text form, base64url: goes to the device once and is not kept.
    package let text: Secret<String>
    package let hash: Digest256
    /// The session that it names.
    package let sessionID: SessionID

    /// 16 bytes of the id, 32 random: no bit of the text is left over, so that a token has one text.
    private static let characters = 64

    /// Makes a token.
    ///
    /// - Parameter randomBytes: 32 bytes that come from outside.
    package init(of sessionID: SessionID, randomBytes: [UInt8]) {
        let text = Base64URL.encode(withUnsafeBytes(of: sessionID.uuid.uuid) { Array($0) } + randomBytes)
        self.text = Secret(text)
        self.sessionID = sessionID
        hash = Digest256.of(text)
    }

    /// Reads what a device shows; `nil` for what cannot be a token. The length is checked so that nothing long is
    /// hashed.
    package init?(shown text: String) {
        var shown = text
        guard let hash = shown.withUTF8({ Self.hash(ofShown: UnsafeRawBufferPointer($0)) }),
            let bytes = Base64URL.decode(text)
        else { return nil }
        sessionID = SessionID(bytes[..<16].withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
        self.text = Secret(text)
        self.hash = hash
    }

    /// The hash alone, of what a device shows; `nil` for what cannot be a token.
    package static func hash(ofShown text: UnsafeRawBufferPointer) -> Digest256? {
        text.count == characters ? Digest256.of(text) : nil
    }
}
