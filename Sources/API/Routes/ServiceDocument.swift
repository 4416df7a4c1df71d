import Domain
import Encoding
import Foundation
import NIOCore
import Synchronization

/// `openapi.json` with the listeners as they are seen from outside; the file names those of the defaults.
final class ServiceDocument: Sendable {
    private struct Written {
        let publicURL: String
        let clientURL: String
        let buffer: ByteBuffer
    }

    private let written = Mutex<Written?>(nil)

    /// The document, one buffer for all who ask.
    func buffer(publicURL: String, clientURL: String) -> ByteBuffer {
        written.withLock { written in
            if let written, written.publicURL == publicURL, written.clientURL == clientURL { return written.buffer }
            let buffer = ByteBuffer(
                string: Self.text(PackageResources.openapi_json, publicURL: publicURL, clientURL: clientURL))
            written = Written(publicURL: publicURL, clientURL: clientURL, buffer: buffer)
            return buffer
        }
    }

    /// Names the listeners in a document that names the usual ones.
    static func text(_ document: [UInt8], publicURL: String, clientURL: String) -> String {
        let (publicText, clientText) = (JSONValue.string(publicURL).jsonText, JSONValue.string(clientURL).jsonText)
        // In one pass: the one may be where the other usually is.
        return String(decoding: document, as: UTF8.self).replacing(/"url": "https:\/\/127\.0\.0\.1:844([01])"/) {
            "\"url\": " + ($0.output.1 == "0" ? publicText : clientText)
        }
    }
}
