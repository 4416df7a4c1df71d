import Domain
import Encoding
import HTTPTypes
import Hummingbird
import NIOCore

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
