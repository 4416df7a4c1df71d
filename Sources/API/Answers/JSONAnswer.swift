import Domain
import Encoding
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

extension JSONValue {
    static func id<Kind>(_ identifier: Identifier<Kind>) -> JSONValue { .string(identifier.description) }

    var buffer: ByteBuffer { ByteBuffer(bytes: jsonBytes) }
}

extension Response {
    static func json(
        status: HTTPResponse.Status = .ok, _ members: KeyValuePairs<String, JSONValue?>, mayStore: Bool = false
    ) -> Response {
        var response = Response(status: status)
        response.setJSON(.object(members), type: "application/json")
        if !mayStore { response.headers[.cacheControl] = "no-store" }
        return response
    }

    /// A response with a body that is JSON already.
    static func json(status: HTTPResponse.Status = .ok, _ body: ByteBuffer) -> Response {
        var response = Response(status: status)
        response.headers[.contentType] = "application/json"
        response.body = ResponseBody(byteBuffer: body)
        response.headers[.cacheControl] = "no-store"
        return response
    }

    mutating func setJSON(_ value: JSONValue, type: String) {
        headers[.contentType] = type
        body = ResponseBody(byteBuffer: value.buffer)
    }
}

extension ResponseBody {
    /// A body that many responses share. It is sent in pieces, each after the previous one has been sent. Unread bytes
    /// are thus stored once, and not encrypted in advance for each response.
    init(shared bytes: ByteBuffer) {
        ResponseCarrier.current?.share()
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

/// The bytes of a response that is built for each request but rarely changes. Equal responses share one buffer.
final class LatestBuffer: Sendable {
    private let latest = Mutex(ByteBuffer())

    /// The latest buffer if it has these bytes; otherwise these become the latest.
    func sharing(_ bytes: ByteBuffer) -> ByteBuffer {
        latest.withLock { latest in
            if latest != bytes { latest = bytes }
            return latest
        }
    }
}
