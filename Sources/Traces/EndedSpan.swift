import Encoding
import Tracing

/// An ended span in OTLP's form (OTLP 1.3, JSON Protobuf encoding).
struct EndedSpan: Sendable {
    let identity: TraceParent
    let parentID: UInt64?
    let name: String
    let kind: SpanKind
    /// Nanoseconds since the Unix epoch.
    let start: UInt64
    let end: UInt64
    let attributes: SpanAttributes
    let hasFailed: Bool

    var json: JSONValue {
        let members: KeyValuePairs<String, JSONValue?> = [
            "traceId": .string(identity.traceID.description), "spanId": .string(HexadecimalText.of(identity.spanID)),
            "parentSpanId": parentID.map { .string(HexadecimalText.of($0)) }, "name": .string(name),
            "kind": .integer(Self.number(of: kind)), "startTimeUnixNano": .string(String(start)),
            "endTimeUnixNano": .string(String(end)), "attributes": Self.json(attributes),
            "status": .object(hasFailed ? ["code": .integer(2)] : [:]),
        ]
        return .object(members)
    }

    private static func number(of kind: SpanKind) -> Int64 {
        switch kind {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }

    /// The attribute's value in OTLP's form; `nil` for types that this service does not write.
    private static func json(_ value: SpanAttribute) -> JSONValue? {
        switch value {
        case .int64(let number): .object(["intValue": .string(String(number))])
        case .bool(let value): .object(["boolValue": .bool(value)])
        case .string(let text): .object(["stringValue": .string(text)])
        default: nil
        }
    }

    static func json(_ attributes: SpanAttributes) -> JSONValue {
        var members: [(String, JSONValue)] = []
        // `SpanAttributes` is not a sequence: this is its only iteration.
        // swift-format-ignore: ReplaceForEachWithForLoop
        attributes.forEach { name, value in
            if let value = json(value) { members.append((name, value)) }
        }
        return .array(members.sorted { $0.0 < $1.0 }.map { .object(["key": .string($0.0), "value": $0.1]) })
    }
}
