/// The command line: pairs of a name and a value.
package struct Options: Sendable {
    private var values: [String: String]

    init(arguments: [String], defaults: [String: String]) throws {
        values = defaults
        for index in stride(from: 0, to: arguments.count, by: 2) {
            let known = values.keys.sorted().joined(separator: " ")
            guard index + 1 < arguments.count, values[arguments[index]] != nil else {
                throw Malformed(reason: "\(arguments[index]) is unknown or lacks its value; known are \(known)")
            }
            values[arguments[index]] = arguments[index + 1]
        }
        if self["--service"].hasSuffix("/") { values["--service"] = String(self["--service"].dropLast()) }
        for name in values.keys where name.hasSuffix("port") && UInt16(self[name]) == nil {
            throw Malformed(reason: "\(name) is not a port number")
        }
    }

    func port(_ name: String) -> Int { Int(self[name]) ?? 0 }
}

package extension Options {
    /// Why the command line is invalid.
    struct Malformed: Error {
        let reason: String

        package init(reason: String) { self.reason = reason }
    }

    /// Why a command failed, in words for the operator.
    struct Failure: Error {
        package let reason: String

        package init(reason: String) { self.reason = reason }
    }

    subscript(name: String) -> String { values[name] ?? "" }
}
