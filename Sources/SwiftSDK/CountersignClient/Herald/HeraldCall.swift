import Encoding
import Foundation
import HTTPTypes
import Herald

/// A call of streams as a function of Herald's interface, with the names and meaning of the JSON call.
struct HeraldCall: Sendable {
    private static let interface = ThriftInterface.herald

    let function: ThriftInterface.Function
    let arguments: [ThriftField]
    /// Whether the call waits for a change if there is none.
    let waits: Bool

    /// `nil` for a call that the interface lacks.
    init?(_ call: Call) {
        let halves = (call.request.path ?? "").split(separator: "?", maxSplits: 1).map(String.init)
        guard let path = halves.first, let query = Self.query(halves.dropFirst().first) else { return nil }
        let match = Self.interface.functions.values.lazy.compactMap { function in
            Self.arguments(of: function, call.request.method, path, query).map { (function, $0) }
        }.first
        guard let (function, found) = match else { return nil }
        var members = found
        if let body = call.body {
            guard let value = try? StrictJSON.parse(Array(body)), let name = function.bodyName else { return nil }
            members.append(JSONMember(name: name, value: value))
        }
        self.function = function
        arguments = function.arguments.compactMap { field in
            members.first { $0.name == field.name }
                .flatMap { Self.interface.value($0.value, as: field.kind) }.map { ThriftField(field.id, $0) }
        }
        waits = call.wait > .zero && query["anchor"] != "latest"
    }

    func message(_ sequence: Int32) -> ThriftMessage {
        ThriftMessage(.call, name: function.name, sequence: sequence, body: arguments)
    }

    /// Names and values; `nil` if one is malformed.
    private static func query(_ text: String?) -> [String: String]? {
        var found: [String: String] = [:]
        for pair in text?.split(separator: "&") ?? [] {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = halves.first, let text = halves.dropFirst().first,
                let value = String(text).removingPercentEncoding
            else { return nil }
            found[String(name)] = value
        }
        return found
    }

    /// The arguments from path and query; `nil` if they are not the function's.
    private static func arguments(
        of function: ThriftInterface.Function, _ method: HTTPRequest.Method, _ path: String, _ query: [String: String]
    ) -> [JSONMember]? {
        let route = function.route.split(separator: " ", maxSplits: 1)
        let halves = route.last?.split(separator: "?", maxSplits: 1) ?? []
        let (wanted, steps) = (halves.first?.split(separator: "/") ?? [], path.split(separator: "/"))
        guard route.first == method.rawValue[...], wanted.count == steps.count else { return nil }
        var values: [String: String] = [:]
        for (step, found) in zip(wanted, steps) {
            if step.first == "{" {
                values[String(step.dropFirst().dropLast())] = String(found).removingPercentEncoding
            } else if step != found {
                return nil
            }
        }
        let names = Set(halves.dropFirst().first?.split(separator: "&").map(String.init) ?? [])
        // The client waits itself: the service announces changes.
        for (name, value) in query where name != "wait" {
            guard names.contains(name) else { return nil }
            values[name] = value
        }
        return function.arguments.compactMap { field in
            values[field.name].map { text in
                let value: JSONValue =
                    switch field.kind {
                    case .i32, .i64: Int64(text).map { .integer($0) } ?? .null
                    default: .string(text)
                    }
                return JSONMember(name: field.name, value: value)
            }
        }
    }

    /// The response in the form of the JSON call; `nil` if the service does not know the function or its arguments.
    ///
    /// - Throws: `Refusal.unanswered` if the service failed.
    func answer(_ reply: ThriftMessage) throws(Refusal) -> Answer? {
        guard reply.kind == .reply else {
            // TApplicationException: 6 is a failure of the service, all others mean that nothing was done.
            let failed = reply.body.contains { $0.id == 2 && $0.value == .i32(6) }
            if failed { throw .unanswered("the service failed") }
            return nil
        }
        if let refusal = function.refusal, let field = reply.body.first(where: { $0.id == refusal.id }) {
            let document = Self.interface.json(field.value, refusal.kind)
            guard case .integer(let status)? = document?["status"], let document else {
                throw .unreadable("a refusal has no status")
            }
            var response = HTTPResponse(status: .init(code: Int(clamping: status)))
            if case .integer(let seconds)? = document["retry_after"] {
                response.headerFields[.retryAfter] = String(seconds)
            }
            return Answer(response: response, body: Data(document.jsonText.utf8))
        }
        guard let kind = function.result else {
            return Answer(response: HTTPResponse(status: .noContent), body: Data())
        }
        guard let value = reply.body.first(where: { $0.id == 0 }).flatMap({ Self.interface.json($0.value, kind) })
        else {
            throw .unreadable("it has no result")
        }
        return Answer(response: HTTPResponse(status: .ok), body: Data(value.jsonText.utf8))
    }
}

extension ThriftInterface.Function {
    /// The name of the argument that is the JSON call's body.
    fileprivate var bodyName: String? {
        arguments.first { if case .structure = $0.kind { true } else { false } }?.name
    }
}

extension Answer {
    /// Whether there are changes since an anchor.
    var hasChanges: Bool {
        guard response.status == .ok, let value = try? StrictJSON.parse(Array(body)) else { return true }
        if case .array(let operations)? = value["operations"], !operations.isEmpty { return true }
        return value["more"] == .bool(true)
    }
}
