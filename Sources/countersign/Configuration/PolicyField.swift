import Domain
import Encoding
import Foundation
import Yams

/// One value of a policy: its name in the file, its place in the policy, and its accepted values.
struct PolicyField {
    /// The name in the file.
    let key: String
    /// The accepted values, for a sentence.
    let expected: String
    /// Sets the value, or returns the defects of the node.
    let set: (Node, inout Policy) -> [Fault]
    let value: (Policy) -> JSONValue
    /// The value as it is written in the file.
    let written: (Policy) -> String

    /// A defect inside a value.
    struct Fault {
        /// `nil` for the line of the field's key.
        var line: Int?
        /// What follows the field's key in the path, such as `[1].account`.
        var path = ""
        let expected: String
        var isUnknownKey = false
    }

    init(
        _ key: String, expected: String, set: @escaping (Node, inout Policy) -> [Fault],
        value: @escaping (Policy) -> JSONValue, written: ((Policy) -> String)? = nil
    ) {
        self.key = key
        self.expected = expected
        self.set = set
        self.value = value
        self.written = written ?? { value($0).jsonText }
    }

    private init<Value>(
        _ key: String, _ path: WritableKeyPath<Policy, Value>, expected: String,
        read: @escaping (Node) -> Value?, write: @escaping (Value) -> JSONValue, text: ((Value) -> String)? = nil
    ) {
        let expected = expected + " is expected"
        self.init(key, expected: expected) { node, policy in
            guard let value = read(node) else { return [Fault(expected: expected)] }
            policy[keyPath: path] = value
            return []
        } value: {
            write($0[keyPath: path])
        } written: {
            text?($0[keyPath: path]) ?? write($0[keyPath: path]).jsonText
        }
    }

    /// A whole number in decimal digits.
    static func whole(
        _ key: String, _ path: WritableKeyPath<Policy, Int>, _ range: ClosedRange<Int>
    ) -> PolicyField {
        PolicyField(key, path, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)") { node in
            plain(node).flatMap { number in
                guard number.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(number) else {
                    return nil
                }
                return range.contains(number) ? number : nil
            }
        } write: {
            .integer(Int64($0))
        }
    }

    /// A duration with its unit.
    static func time(
        _ key: String, _ path: WritableKeyPath<Policy, TimeInterval>, _ range: ClosedRange<TimeInterval>
    ) -> PolicyField {
        PolicyField(key, path, expected: times(in: range)) { node in
            plain(node).flatMap(seconds).flatMap { range.contains($0) ? $0 : nil }
        } write: {
            json($0)
        } text: {
            text($0)
        }
    }

    static func times(
        _ key: String, _ path: WritableKeyPath<Policy, [TimeInterval]>, _ range: ClosedRange<TimeInterval>,
        upTo count: Int
    ) -> PolicyField {
        PolicyField(key, path, expected: "a list of at most \(count), each \(times(in: range)),") { node in
            list(node, upTo: count) { plain($0).flatMap(seconds).flatMap { range.contains($0) ? $0 : nil } }
        } write: {
            .array($0.map(json))
        } text: {
            "[" + $0.map(text).joined(separator: ", ") + "]"
        }
    }

    private static func times(in range: ClosedRange<TimeInterval>) -> String {
        "a time with its unit from \(text(range.lowerBound)) to \(text(range.upperBound))"
    }

    static func flag(_ key: String, _ path: WritableKeyPath<Policy, Bool>) -> PolicyField {
        PolicyField(key, path, expected: "true or false") { node in
            switch plain(node) {
            case "true": true
            case "false": false
            default: nil
            }
        } write: {
            .bool($0)
        }
    }

    /// One of the raw values of an enumeration.
    static func choice<Word: RawRepresentable & CaseIterable & Equatable>(
        _ key: String, _ path: WritableKeyPath<Policy, Word>, among words: [Word] = Array(Word.allCases)
    ) -> PolicyField where Word.RawValue == String {
        let names = words.map(\.rawValue).joined(separator: ", ")
        return PolicyField(key, path, expected: "one of \(names)") { node in
            (node.scalar?.string).flatMap(Word.init(rawValue:)).flatMap { words.contains($0) ? $0 : nil }
        } write: {
            .string($0.rawValue)
        }
    }

    /// A list of different raw values of an enumeration, at least one.
    static func choices<Word: RawRepresentable & CaseIterable>(
        _ key: String, _ path: WritableKeyPath<Policy, [Word]>
    ) -> PolicyField where Word.RawValue == String {
        let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
        return PolicyField(key, path, expected: "a list of at least one of \(words), each once,") { node in
            let chosen = list(node, upTo: Word.allCases.count) { ($0.scalar?.string).flatMap(Word.init(rawValue:)) }
            return chosen.flatMap { !$0.isEmpty && Set($0.map(\.rawValue)).count == $0.count ? $0 : nil }
        } write: {
            .array($0.map { .string($0.rawValue) })
        }
    }

    /// A text that satisfies a predicate.
    static func text(
        _ key: String, _ path: WritableKeyPath<Policy, String>, expected: String,
        where passes: @escaping (String) -> Bool
    ) -> PolicyField {
        PolicyField(key, path, expected: expected) { node in
            (node.scalar?.string).flatMap { passes($0) ? $0 : nil }
        } write: {
            .string($0)
        }
    }

    /// A list of different texts that each satisfy a predicate.
    static func texts(
        _ key: String, _ path: WritableKeyPath<Policy, [String]>, upTo maximum: Int = 256, expected: String,
        where passes: @escaping (String) -> Bool
    ) -> PolicyField {
        PolicyField(key, path, expected: expected) { node in
            let texts = list(node, upTo: maximum) { ($0.scalar?.string).flatMap { passes($0) ? $0 : nil } }
            return texts.flatMap { Set($0).count == $0.count ? $0 : nil }
        } write: {
            .array($0.map { .string($0) })
        }
    }

    /// A list of different IP networks.
    static func networks(_ key: String, _ path: WritableKeyPath<Policy, [AddressNetwork]>) -> PolicyField {
        let expected = "a list of networks such as 10.0.0.0/8, at most 64, each once,"
        return PolicyField(key, path, expected: expected) { node in
            let networks = list(node, upTo: 64) { ($0.scalar?.string).flatMap { AddressNetwork($0) } }
            return networks.flatMap { Set($0).count == $0.count ? $0 : nil }
        } write: {
            .array($0.map { .string($0.description) })
        }
    }

    /// Parses a duration: a number with `ms`, `s`, `m`, `h` or `d`; `nil` for anything else, also for a number without
    /// a unit, which a reader may mean as seconds, minutes or days. Every duration that a person writes is parsed here.
    static func seconds(_ text: String) -> TimeInterval? {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let units: [Substring: TimeInterval] = ["ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = units[text[number.endIndex...]], number.utf8.count <= 12, number.first != ".",
            number.last != ".", let value = TimeInterval(number)
        else { return nil }
        return value * unit
    }

    /// The text of a plain scalar, as numbers and flags must be: `"6"` in quotes is a text.
    private static func plain(_ node: Node) -> String? {
        guard let scalar = node.scalar, scalar.style == .plain, !scalar.string.isEmpty else { return nil }
        return scalar.string
    }

    private static func list<Value>(_ node: Node, upTo count: Int, _ read: (Node) -> Value?) -> [Value]? {
        guard let nodes = node.sequence, nodes.count <= count else { return nil }
        let values = nodes.compactMap(read)
        return values.count == nodes.count ? values : nil
    }

    private static func json(_ seconds: TimeInterval) -> JSONValue {
        Int64(exactly: seconds).map { .integer($0) } ?? .number(seconds)
    }

    private static func text(_ seconds: TimeInterval) -> String {
        for (unit, name) in [(86_400, "d"), (3600, "h"), (60, "m"), (1.0, "s")] where seconds >= unit {
            if let count = Int(exactly: seconds / unit) { return "\(count)\(name)" }
        }
        return seconds == 0 ? "0s" : "\(seconds)s"
    }
}
