import Encoding
import Foundation

/// The bearer half of a session: 256 random bits that only the device keeps. The store holds its SHA-256.
package struct SessionToken: Sendable {
    /// The text form, base64url: goes to the device once and is not kept.
    package let text: Secret<String>
    package let hash: Digest256

    /// Makes a token from 32 random bytes that come from outside.
    package init(randomBytes: [UInt8]) {
        let text = Base64URL.encode(randomBytes)
        self.text = Secret(text)
        hash = Digest256.of(text)
    }

    /// Reads what a device shows; `nil` for what cannot be a token. The length is checked so that nothing long is
    /// hashed.
    package init?(shown text: String) {
        var shown = text
        guard let hash = shown.withUTF8({ Self.hash(ofShown: UnsafeRawBufferPointer($0)) }) else { return nil }
        self.text = Secret(text)
        self.hash = hash
    }

    /// The hash alone, of what a device shows; `nil` for what cannot be a token.
    package static func hash(ofShown text: UnsafeRawBufferPointer) -> Digest256? {
        text.count == 43 ? Digest256.of(text) : nil
    }
}
