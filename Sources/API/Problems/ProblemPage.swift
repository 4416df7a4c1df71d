import Encoding
import HTTPTypes
import Hummingbird
import NIOCore

/// The page at a problem's `type`, for a person or a program.
struct ProblemPage {
    let kind: ProblemKind
    let face: ListenerFace

    func response(to fields: HTTPFields) -> Response {
        let isHTML = Self.wantsHTML(fields)
        let body = isHTML ? ByteBuffer(string: html) : json.buffer
        var response = Response(status: .ok, headers: [.contentType: isHTML ? Self.htmlType : "application/json"])
        response.headers[.vary] = "Accept"
        // The page is only text: nothing is loaded, executed, sent or framed.
        response.headers[.contentSecurityPolicy] =
            "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        response.headers[.xContentTypeOptions] = "nosniff"
        response.body = ResponseBody(byteBuffer: body)
        return response
    }

    private static let htmlType = "text/html; charset=utf-8"

    private var json: JSONValue {
        .object([
            "type": .string(face.problemType(kind.code)), "title": .string(kind.status.reasonPhrase),
            "status": .integer(Int64(kind.status.code)), "code": .string(kind.code), "cause": .string(kind.cause),
            "mend": .string(kind.mend), "example": example,
        ])
    }

    private var example: JSONValue {
        kind.example.members(type: face.problemType(kind.code), requestID: "5f0c1a2b-3d4e-8f60-9a7b-000000000001")
    }

    private var html: String {
        let code = Self.escaped(kind.code)
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>\(code)</title>
            </head>
            <body>
            <h1>\(code)</h1>
            <p>\(kind.status.code) \(Self.escaped(kind.status.reasonPhrase))</p>
            <h2>Cause</h2>
            <p>\(Self.marked(kind.cause))</p>
            <h2>Remedy</h2>
            <p>\(Self.marked(kind.mend))</p>
            <h2>Example</h2>
            <pre>\(Self.escaped(Self.lines(example)))</pre>
            </body>
            </html>

            """
    }

    /// The members of an object, one a line.
    private static func lines(_ value: JSONValue) -> String {
        guard case .object(let members) = value else { return value.jsonText }
        let lines = members.map { "  \(JSONValue.string($0.name).jsonText): \($0.value.jsonText)" }
        return "{\n" + lines.joined(separator: ",\n") + "\n}"
    }

    /// HTML of a text, with the words between backticks as code.
    static func marked(_ text: String) -> String {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false)
        return parts.enumerated().map { index, part in
            index.isMultiple(of: 2) ? escaped(String(part)) : "<code>\(escaped(String(part)))</code>"
        }.joined()
    }

    static func escaped(_ text: String) -> String {
        var html = ""
        for character in text {
            switch character {
            case "&": html += "&amp;"
            case "<": html += "&lt;"
            case ">": html += "&gt;"
            case "\"": html += "&quot;"
            case "'": html += "&#39;"
            default: html.append(character)
            }
        }
        return html
    }

    /// Whether a client prefers HTML to JSON (RFC 9110 §12.5.1). Without a preference it gets JSON.
    static func wantsHTML(_ fields: HTTPFields) -> Bool {
        let ranges = fields[values: .accept].flatMap { $0.split(separator: ",") }.map { item in
            let parts = item.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 }
            return (type: parts.first ?? "", weight: weight ?? 1)
        }
        func weight(_ names: String...) -> Double {
            for name in names {
                if let range = ranges.first(where: { $0.type.hasSameBytes(as: name) }) { return range.weight }
            }
            return 0
        }
        return weight("text/html", "text/*", "*/*")
            > weight("application/problem+json", "application/json", "application/*", "*/*")
    }
}
