import Foundation
import Hummingbird
import SampleBackend

/// A volunteer or listener, as entered by staff. The fields have the names of the file and of the calls.
struct Person: Sendable, Equatable {
    enum Group: String, CaseIterable, Sendable { case listeners, readers }

    /// Fields that a user may change. Staff change the others.
    static let ownFields = ["name", "area_code", "number", "street", "city", "zip", "state"]
    static let fields = ["username", "groups"] + ownFields

    private(set) var values: [String: String]

    var username: String { values["username"] ?? "" }
    var groups: [Group] { (values["groups"] ?? "").split(separator: " ").compactMap { Group(rawValue: String($0)) } }

    /// Parses fields.
    ///
    /// - Throws: `400` that names the field.
    init(_ given: [String: String]) throws {
        values = [:]
        for field in Self.fields { values[field] = try Self.parse(given[field], field) }
    }

    init(stored: [String: String]) { values = stored }

    /// A copy with changed values.
    func changed(_ given: [String: String]) throws -> Person {
        try Person(values.merging(given) { $1 })
    }

    static func parse(_ text: String?, _ field: String) throws -> String {
        func matching(_ pattern: Regex<Substring>, _ text: String) throws -> String {
            guard text.wholeMatch(of: pattern) != nil else {
                throw HTTPError(.badRequest, message: "\(field) is malformed")
            }
            return text
        }
        let text = try plainText(text, field, limit: 200)
        switch field {
        // The username is the e-mail address: one word in ASCII, so that no two usernames look equal.
        case "username":
            return try matching(/[a-z0-9._%+'-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,4}/, text.lowercased())
        case "groups":
            let words = Set(text.lowercased().split { " ;,".contains($0) }.map(String.init))
            guard !words.isEmpty, words.allSatisfy({ Group(rawValue: $0) != nil }) else {
                throw HTTPError(.badRequest, message: "groups are listeners, readers or both")
            }
            return words.sorted().joined(separator: " ")
        case "area_code": return try matching(/[2-9][0-9]{2}/, text)
        case "number": return try matching(/[2-9][0-9]{6}/, text.filter { $0 != "-" && $0 != " " })
        case "zip": return try matching(/[0-9]{5}(?:-[0-9]{4})?/, text)
        case "state": return try matching(/[A-Z]{2}/, text.uppercased())
        default: return text
        }
    }
}
