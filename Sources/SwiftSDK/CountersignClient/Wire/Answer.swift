import Foundation
import HTTPTypes

/// A response of the service.
struct Answer: Sendable {
    let response: HTTPResponse
    let body: Data

    /// The service's time (RFC 9110 §6.6.1), in whole seconds.
    var date: Date? { response.headerFields[.date].flatMap(Self.date) }

    /// The refusal; `nil` if the call succeeded.
    func problem() throws(Refusal) -> Problem? {
        guard response.status.code >= 400 else { return nil }
        guard var problem = try? Self.decoder.decode(Problem.self, from: body) else {
            throw .unreadable("the status is \(response.status.code) without a problem document")
        }
        problem.retryAfter = response.headerFields[.retryAfter].flatMap { Int($0) }
        return problem
    }

    func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws(Refusal) -> Value {
        do {
            return try Self.decoder.decode(type, from: body)
        } catch {
            throw .unreadable("it is not a valid \(type)")
        }
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }

    /// Parses a date such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
    static func date(_ text: String) -> Date? {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let words = text.split(whereSeparator: { $0 == " " || $0 == ":" })
        guard words.count == 8, words[7] == "GMT", let month = months.firstIndex(of: String(words[2])) else {
            return nil
        }
        var parts = DateComponents()
        parts.calendar = Calendar(identifier: .gregorian)
        parts.timeZone = TimeZone(identifier: "GMT")
        (parts.year, parts.month, parts.day) = (Int(words[3]), month + 1, Int(words[1]))
        (parts.hour, parts.minute, parts.second) = (Int(words[4]), Int(words[5]), Int(words[6]))
        return parts.date
    }
}
