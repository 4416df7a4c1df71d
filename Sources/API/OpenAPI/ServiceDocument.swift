import Domain
import Encoding
import Foundation
import NIOCore
import Synchronization

/// `openapi.json` with the listeners' external URLs in place of the default ones.
final class ServiceDocument: Sendable {
    private struct Written {
        let publicURL: String
        let clientURL: String
        let buffer: ByteBuffer
    }

    private let written = Mutex<Written?>(nil)

    /// The document, in one buffer shared by all responses.
    func buffer(publicURL: String, clientURL: String) -> ByteBuffer {
        written.withLock { written in
            if let written, written.publicURL == publicURL, written.clientURL == clientURL { return written.buffer }
            let buffer = ByteBuffer(
                string: Self.text(Self.document, publicURL: publicURL, clientURL: clientURL))
            written = Written(publicURL: publicURL, clientURL: clientURL, buffer: buffer)
            return buffer
        }
    }

    /// Replaces the default URLs of the listeners in a document.
    static func text(_ document: String, publicURL: String, clientURL: String) -> String {
        let (publicText, clientText) = (JSONValue.string(publicURL).jsonText, JSONValue.string(clientURL).jsonText)
        // In one pass, because the URL of one listener may be the default of another.
        return document.replacing(/"url": "https:\/\/127\.0\.0\.1:844([01])"/) {
            "\"url\": " + ($0.output.1 == "0" ? publicText : clientText)
        }
    }
}
