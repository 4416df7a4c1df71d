import Domain
import Encoding
import HTTPTypes
import NIOCore

/// The page at a problem's `type`, for a person or a program.
struct ProblemPage {
    let kind: ProblemKind
    let face: ListenerFace

    func bytes(isHTML: Bool) -> ByteBuffer {
        isHTML ? ByteBuffer(string: HTMLPage.document(title: HTMLPage.escaped(kind.code), body: html)) : json.buffer
    }

    private var json: JSONValue {
        .object([
            "type": .string(face.problemType(kind.code)), "title": .string(kind.status.reasonPhrase),
            "status": .integer(Int64(kind.status.code)), "code": .string(kind.code), "cause": .string(kind.cause),
            "mend": .string(kind.mend), "example": example,
            "reasons": .array(
                kind.reasons.map { row in
                    .object([
                        "type": .string(face.problemType(kind.code, row.reason)),
                        "reason": .string(row.reason.rawValue),
                        "cause": .string(row.cause), "mend": .string(row.mend), "example": .string(row.example),
                    ])
                }),
        ])
    }

    private var example: JSONValue {
        kind.example.members(
            type: face.problemType(kind.code, kind.example.refusal?.reason),
            requestID: "5f0c1a2b-3d4e-8f60-9a7b-000000000001")
    }

    private var html: String {
        """
        <p>\(kind.status.code) \(HTMLPage.escaped(kind.status.reasonPhrase))</p>
        <h2>Cause</h2>
        <p>\(HTMLPage.marked(kind.cause))</p>
        <h2>Remedy</h2>
        <p>\(HTMLPage.marked(kind.mend))</p>
        <h2>Example</h2>
        <pre>\(HTMLPage.escaped(Self.lines(example)))</pre>
        \(kind.reasons.isEmpty ? "" : "<h2>Reasons</h2>")
        \(kind.reasons.map(Self.section).joined(separator: "\n"))
        <p><a href="\(HTMLPage.escaped(face.problemIndex))">All problems</a></p>
        """
    }

    private static func section(_ row: ProblemReason) -> String {
        let reason = HTMLPage.escaped(row.reason.rawValue)
        return """
            <h3 id="\(reason)">\(reason)</h3>
            <p>Cause: \(HTMLPage.marked(row.cause))</p>
            <p>Remedy: \(HTMLPage.marked(row.mend))</p>
            <pre>\(HTMLPage.escaped(row.example))</pre>
            """
    }

    /// The members of an object, one a line.
    private static func lines(_ value: JSONValue) -> String {
        guard case .object(let members) = value else { return value.jsonText }
        let lines = members.map { "  \(JSONValue.string($0.name).jsonText): \($0.value.jsonText)" }
        return "{\n" + lines.joined(separator: ",\n") + "\n}"
    }
}
