import Encoding
import HTTPTypes
import Herald
import Hummingbird
import NIOCore

/// A call as a request for its route. The route executes it, so both have the same effects, refusals, limits,
/// measurements and log lines.
struct HeraldRequest {
    let request: Request

    /// `nil` if an argument of the path is missing.
    init?(_ function: ThriftInterface.Function, _ arguments: [JSONMember], token: String) {
        let parts = function.route.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let method = HTTPRequest.Method(String(parts[0])),
            let path = Self.path(parts[1], arguments)
        else { return nil }
        var head = HTTPRequest(method: method, scheme: "https", authority: nil, path: path)
        head.headerFields[.authorization] = "Bearer \(token)"
        let body = arguments.first { $0.isBody }.map(\.value.buffer)
        if let body {
            head.headerFields[.contentType] = "application/json"
            head.headerFields[.contentLength] = String(body.readableBytes)
        }
        request = Request(head: head, body: RequestBody(buffer: body ?? ByteBuffer()))
    }

    /// The interface's path with arguments in place of their names.
    static func path(_ template: Substring, _ arguments: [JSONMember]) -> String? {
        let halves = template.split(separator: "?", maxSplits: 1)
        guard let names = halves.first else { return nil }
        var steps: [String] = []
        for step in names.split(separator: "/") {
            guard step.first == "{" else {
                steps.append(String(step))
                continue
            }
            guard let value = text(step.dropFirst().dropLast(), arguments), !value.isEmpty else { return nil }
            steps.append(PercentEncoding.encode(value))
        }
        let query = (halves.dropFirst().first?.split(separator: "&") ?? []).compactMap { name in
            text(name, arguments).map { "\(name)=\(PercentEncoding.encode($0))" }
        }
        return "/" + steps.joined(separator: "/") + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    private static func text(_ name: Substring, _ arguments: [JSONMember]) -> String? {
        switch arguments.first(where: { $0.name.hasSameBytes(as: name) })?.value {
        case .string(let text): text
        case .integer(let number): String(number)
        default: nil
        }
    }
}

extension JSONMember {
    fileprivate var isBody: Bool {
        if case .object = value { true } else { false }
    }
}
