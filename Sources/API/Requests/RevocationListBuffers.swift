import Foundation
import NIOCore
import Operations
import Synchronization

/// The encoded revocation list, shared by all responses. Each form is made once for a list, when it is first requested:
/// few clients want PEM, which is a third longer.
final class RevocationListBuffers: Sendable {
    private struct Made {
        let list: PublishRevocationList.Document
        let buffer: ByteBuffer
    }

    private let der = Mutex<Made?>(nil)
    private let pem = Mutex<Made?>(nil)

    func der(of list: PublishRevocationList.Document) -> ByteBuffer {
        Self.buffer(of: list, der) { ByteBuffer(bytes: list.der) }
    }

    func pem(of list: PublishRevocationList.Document) -> ByteBuffer {
        Self.buffer(of: list, pem) { ByteBuffer(string: Self.pem(list.der)) }
    }

    private static func buffer(
        of list: PublishRevocationList.Document, _ last: borrowing Mutex<Made?>, make: () -> ByteBuffer
    ) -> ByteBuffer {
        last.withLock { last in
            if let last, last.list === list { return last.buffer }
            let made = make()
            last = Made(list: list, buffer: made)
            return made
        }
    }

    /// Encodes the list as in RFC 7468 §6.
    private static func pem(_ der: [UInt8]) -> String {
        let base64 = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN X509 CRL-----\n\(base64)\n-----END X509 CRL-----\n"
    }
}
