import Database

/// A statement for the values of a list, in a few texts for fixed lengths. A shorter list is padded with its last
/// value. A page thus costs one statement, and few statements are kept prepared.
struct ListStatement: Sendable {
    /// The lengths, shortest first. The members of a stream usually fit into the second, a page into the last.
    private static let lengths = [4, 32, 128]

    private let texts: [(length: Int, sql: String)]

    /// - Parameters:
    ///   - count: the number of other parameters, which come first.
    ///   - text: returns the text for the list in the form for `IN` or, with each value in parentheses, for `VALUES`.
    init(after count: Int = 0, _ text: (_ list: (in: String, rows: String)) -> String) {
        texts = Self.lengths.map { length in
            let places = (1...length).map { "$\(count + $0)" }
            let rows = places.map { "(\($0))" }.joined(separator: ", ")
            return (length, text(("(\(places.joined(separator: ", ")))", rows)))
        }
    }

    /// The texts with their arguments for a list of any length; empty for an empty list.
    ///
    /// - Parameter others: the arguments that come first.
    fileprivate func parts(_ others: [Value], _ list: [Value]) -> [(sql: String, arguments: [Value])] {
        var (parts, left) = ([(sql: String, arguments: [Value])](), list[...])
        while let last = left.last, let longest = texts.last {
            let text = texts.first { $0.length >= left.count } ?? longest
            let taken = left.prefix(text.length)
            left = left.dropFirst(taken.count)
            let filling = Array(repeating: taken.last ?? last, count: text.length - taken.count)
            parts.append((text.sql, others + taken + filling))
        }
        return parts
    }
}

extension Transaction {
    /// The rows of a statement for the values of a list.
    func query(_ statement: ListStatement, _ others: [Value] = [], list: [Value]) throws -> [Row] {
        try statement.parts(others, list).flatMap { try query($0.sql, $0.arguments) }
    }

    /// Executes it like `enqueue(_:_:)`, in the order of the list.
    func enqueue(_ statement: ListStatement, _ others: [Value] = [], list: [Value]) throws {
        for part in statement.parts(others, list) { try enqueue(part.sql, part.arguments) }
    }
}
