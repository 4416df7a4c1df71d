import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOSSL

/// A request's context with its connection, whose certificate a session's token is bound to.
package struct SampleContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

package extension SampleContext {
    /// Bodies have 16 KiB at most.
    var maxUploadSize: Int { 16 * 1024 }
    var requestDecoder: FormOrJSONDecoder { FormOrJSONDecoder() }

    /// Decodes a form, or else JSON.
    struct FormOrJSONDecoder: RequestDecoder {
        package func decode<T: Decodable>(
            _ type: T.Type, from request: Request, context: some RequestContext
        ) async throws -> T {
            let isForm = request.headers[.contentType]?.hasPrefix("application/x-www-form-urlencoded") == true
            return isForm
                ? try await URLEncodedFormDecoder().decode(type, from: request, context: context)
                : try await JSONDecoder().decode(type, from: request, context: context)
        }
    }

    /// A path parameter as a UUID; `404` for anything else.
    func uuid(_ name: String) throws -> UUID {
        guard let id = parameters.get(name).flatMap({ UUID(uuidString: $0) }) else { throw HTTPError(.notFound) }
        return id
    }
}

package extension Response {
    /// A JSON response. It concerns one user, so no cache may store it.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return .of(try encoder.encode(value), type: "application/json", status: status)
    }

    static func of(
        _ data: Data, type: String, status: HTTPResponse.Status = .ok, _ more: HTTPFields = [:]
    ) -> Response {
        var headers: HTTPFields = [
            .contentType: type, .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
        ]
        for field in more { headers[field.name] = field.value }
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: data)))
    }
}

/// A caller's text, in Unicode's composed form and without surrounding space.
///
/// - Throws: `400` if it is empty, longer than `limit` characters, or contains control or direction characters.
package func plainText(_ text: String?, _ name: String, limit: Int, allowsLines: Bool = false) throws -> String {
    let composed = (text ?? "").precomposedStringWithCanonicalMapping.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !composed.isEmpty else { throw HTTPError(.badRequest, message: "\(name) is missing") }
    guard composed.unicodeScalars.count <= limit else {
        throw HTTPError(.badRequest, message: "\(name) has more than \(limit) characters")
    }
    let isPlain = composed.unicodeScalars.allSatisfy { scalar in
        switch scalar.properties.generalCategory {
        case .control: allowsLines && scalar == "\n"
        // Zero-width joiners are needed by emoji and by some scripts. Characters that change the direction are not.
        case .format: scalar == "\u{200D}" || scalar == "\u{200C}"
        case .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
    guard isPlain else { throw HTTPError(.badRequest, message: "\(name) contains invisible characters") }
    return composed
}

package extension Duration {
    init(_ seconds: TimeInterval) { self = .milliseconds(Int64(min(max(seconds, 0), 1e6) * 1000)) }
}
