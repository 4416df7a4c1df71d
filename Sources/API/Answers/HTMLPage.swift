import Encoding
import HTTPTypes
import Hummingbird
import NIOCore

/// A page of text for people. It loads nothing and runs nothing.
enum HTMLPage {
    private static let htmlType = "text/html; charset=utf-8"

    /// A page is only text: nothing is loaded, executed, sent or framed.
    private static let fieldsOfText: HTTPFields = [
        .contentSecurityPolicy: "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        .xContentTypeOptions: "nosniff",
    ]

    /// The page for a request to the console that is not valid HTTP. Only browsers read the console, so it is HTML.
    static func refusal(_ problem: Problem, requestID: String) -> (fields: HTTPFields, body: ByteBuffer) {
        var fields = fieldsOfText
        fields[.contentType] = htmlType
        fields[.cacheControl] = "no-store"
        let body = """
            <p>\(escaped(problem.detail))</p>
            <p><a href="/">Start page</a></p>
            <p>Request \(escaped(requestID))</p>
            """
        return (fields, ByteBuffer(string: document(title: "Not accepted", body: body)))
    }

    /// A page as HTML or JSON, whichever the client prefers. All clients get the same bytes.
    ///
    /// - Parameter page: the page's bytes, as HTML if the parameter is `true`.
    static func response(to fields: HTTPFields, shared page: (_ isHTML: Bool) -> ByteBuffer) -> Response {
        let isHTML = wantsHTML(fields)
        var response = Response(status: .ok, headers: fieldsOfText)
        response.headers[.contentType] = isHTML ? htmlType : "application/json"
        response.headers[.vary] = "Accept"
        response.body = ResponseBody(shared: page(isHTML))
        return response
    }

    /// A whole document.
    ///
    /// - Parameters:
    ///   - title: HTML.
    ///   - body: HTML that follows the heading.
    static func document(title: String, body: String) -> String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <title>\(title)</title>
        </head>
        <body>
        <main>
        <h1>\(title)</h1>
        \(body)
        </main>
        </body>
        </html>

        """
    }

    /// HTML of a text, with the words between backticks as code.
    static func marked(_ text: String) -> String {
        let parts = text.unicodeScalars.split(separator: "`", omittingEmptySubsequences: false)
        return parts.enumerated().map { index, part in
            index.isMultiple(of: 2) ? escaped(String(part)) : "<code>\(escaped(String(part)))</code>"
        }.joined()
    }

    /// HTML of a text. A combining mark after a character joins it in Swift's `Character`, and not for HTML.
    static func escaped(_ text: String) -> String {
        var html = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": html.append(contentsOf: "&amp;".unicodeScalars)
            case "<": html.append(contentsOf: "&lt;".unicodeScalars)
            case ">": html.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": html.append(contentsOf: "&quot;".unicodeScalars)
            case "'": html.append(contentsOf: "&#39;".unicodeScalars)
            default: html.append(scalar)
            }
        }
        return String(html)
    }

    /// Whether a client prefers HTML to JSON (RFC 9110 §12.5.1). Without a preference it gets JSON.
    static func wantsHTML(_ fields: HTTPFields) -> Bool {
        let ranges = fields.items(of: .accept).map { item in
            let letters = Substring(item).lowercased().utf8.filter { $0 != 0x20 && $0 != 0x09 }
            let parts = letters.split(separator: UInt8(ascii: ";"))
            let weight = parts.dropFirst().first { $0.starts(with: "q=".utf8) }
                .map { Double(String(decoding: $0.dropFirst(2), as: UTF8.self)) ?? 0 }
            return (type: parts.first ?? [], weight: weight ?? 1)
        }
        func weight(_ names: String...) -> Double {
            for name in names {
                if let range = ranges.first(where: { $0.type.elementsEqual(name.utf8) }) { return range.weight }
            }
            return 0
        }
        return weight("text/html", "text/*", "*/*")
            > weight("application/problem+json", "application/json", "application/*", "*/*")
    }
}
