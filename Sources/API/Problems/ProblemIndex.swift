import Domain
import Encoding
import HTTPTypes
import NIOCore

/// The list of all codes with their reasons, each with a link to its place on a page.
struct ProblemIndex {
    let face: ListenerFace

    func bytes(isHTML: Bool) -> ByteBuffer {
        isHTML ? ByteBuffer(string: HTMLPage.document(title: "Problems", body: html)) : json.buffer
    }

    private var json: JSONValue {
        .object([
            "problems": .array(
                ProblemKind.all.map { kind -> JSONValue in
                    .object([
                        "type": .string(face.problemType(kind.code)), "code": .string(kind.code),
                        "status": .integer(Int64(kind.status.code)), "cause": .string(kind.cause),
                        "reasons": .array(kind.reasons.map { .string($0.reason.rawValue) }),
                    ])
                })
        ])
    }

    private var html: String {
        let items = ProblemKind.all.map { kind in
            let reasons = kind.reasons.map { link(kind, $0.reason) }.joined(separator: ", ")
            return "<li>\(link(kind)) (\(kind.status.code)): \(HTMLPage.marked(kind.cause))"
                + (reasons.isEmpty ? "" : "<br>\(reasons)") + "</li>"
        }
        return "<ul>\n\(items.joined(separator: "\n"))\n</ul>"
    }

    private func link(_ kind: ProblemKind, _ reason: Refusal.Reason? = nil) -> String {
        let place = HTMLPage.escaped(face.problemType(kind.code, reason))
        return "<a href=\"\(place)\">\(HTMLPage.escaped(reason?.rawValue ?? kind.code))</a>"
    }
}
