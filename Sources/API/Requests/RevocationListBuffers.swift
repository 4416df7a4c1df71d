import Foundation
import NIOCore
import Operations
import Synchronization

/// The encoded revocation list in both forms: made once for a list, and shared by all responses.
final class RevocationListBuffers: Sendable {
    private struct Made {
        let list: RevocationListDocument
        let der: ByteBuffer
        let pem: ByteBuffer
    }

    private let last = Mutex<Made?>(nil)

    /// The buffers of a list in DER and in PEM.
    func buffers(of list: RevocationListDocument) -> (der: ByteBuffer, pem: ByteBuffer) {
        last.withLock { last in
            if let last, last.list === list { return (last.der, last.pem) }
            let made = Made(list: list, der: ByteBuffer(bytes: list.der), pem: ByteBuffer(string: Self.pem(list.der)))
            last = made
            return (made.der, made.pem)
        }
    }

    /// RFC 7468 §6.
    private static func pem(_ der: [UInt8]) -> String {
        let base64 = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN X509 CRL-----\n\(base64)\n-----END X509 CRL-----\n"
    }
}
