import Hummingbird
import NIOCore
import Synchronization

extension ResponseBody {
    /// A body that is the same for everybody: answers share its bytes, and it goes out in pieces, each when the one before
    /// has left. What a client does not take is then held once, and not enciphered for each in advance.
    init(shared bytes: ByteBuffer) {
        guard bytes.readableBytes > Self.pieceLength else {
            self.init(byteBuffer: bytes)
            return
        }
        self.init(contentLength: bytes.readableBytes) { writer in
            var rest = bytes
            while rest.readableBytes > 0 {
                guard let piece = rest.readSlice(length: min(rest.readableBytes, Self.pieceLength)) else { break }
                try await writer.write(piece)
            }
            try await writer.finish(nil)
        }
    }

    private static var pieceLength: Int { 65_536 }
}

/// The bytes of an answer that is made anew for each request and rarely differs: while it does not, all share one buffer.
final class LatestBuffer: Sendable {
    private let latest = Mutex(ByteBuffer())

    /// The buffer of the latest answer, where it has these bytes; else theirs, from now on.
    func sharing(_ bytes: ByteBuffer) -> ByteBuffer {
        latest.withLock { latest in
            if latest != bytes { latest = bytes }
            return latest
        }
    }
}
