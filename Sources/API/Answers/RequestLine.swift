import Domain
import Encoding
import HTTPTypes
import Traces

/// The log entry of a request. Most lines are of this kind, so its members are not in a metadata dictionary.
///
/// It is an object, because the logging library copies a value several times on its way.
package final class RequestLine: Sendable, CustomStringConvertible {
    let listener: ListenerName
    let outcome: ListenerFace.Outcome
    let id: String

    init(listener: ListenerName, outcome: ListenerFace.Outcome, id: String) {
        (self.listener, self.outcome, self.id) = (listener, outcome, id)
    }
}

package extension RequestLine {
    /// The key of a line in a log message's metadata.
    static let key = "request"

    /// Visits the members without ``RequestParties``. None contains content of the request; every value is a text.
    private func visit(_ member: (_ name: StaticString, _ value: String) -> Void) {
        member("listener", listener.rawValue)
        member("method", outcome.method.rawValue)
        member("route", outcome.route)
        member("status", String(outcome.status.code))
        member("microseconds", String(outcome.elapsed.nanoseconds / 1000))
        member("request_id", id)
        if let trace = outcome.trace { member("trace_id", trace.traceID.description) }
        if let refusal = outcome.problem?.refusal {
            member("code", refusal.code.rawValue)
            if let reason = refusal.reasonText { member("reason", reason) }
            if let detail = refusal.privateDetail { member("cause", detail) }
        } else if let cause = outcome.cause, outcome.isFailure {
            member("cause", ErrorWords.of(cause))
        } else if let problem = outcome.problem {
            member("code", problem.code)
        }
    }

    /// Appends the members to a JSON object that already has some.
    func appendJSON(to line: inout [UInt8]) {
        visit { name, value in
            line += ",\"".utf8
            name.withUTF8Buffer { line += $0 }
            line += "\":".utf8
            JSONValue.string(value).appendJSON(to: &line)
        }
        // Without a text of its own for each id, because the fast path writes such a line in a few microseconds.
        outcome.parties.visit { name, id in
            line += ",\"".utf8
            name.withUTF8Buffer { line += $0 }
            line += "\":\"".utf8
            withUnsafeTemporaryAllocation(byteCount: DeviceID.textLength, alignment: 1) { text in
                DeviceID(id).write(to: text)
                line += text
            }
            line.append(UInt8(ascii: "\""))
        }
    }

    var description: String {
        var words: [String] = []
        visit { words.append("\($0)=\($1)") }
        outcome.parties.visit { words.append("\($0)=\(DeviceID($1))") }
        return words.joined(separator: " ")
    }
}
