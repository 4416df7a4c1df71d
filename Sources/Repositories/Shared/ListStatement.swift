import Database

/// A statement about the values of a list, in a few texts: each is for so many of them, and a shorter list is filled up
/// with its last one. A page thus costs one statement, and an engine that keeps statements prepared keeps few of them.
struct ListStatement: Sendable {
    /// The lengths, the shortest first. The members of a stream fit into the second, a page into the last.
    private static let lengths = [4, 32, 128]

    private let texts: [(length: Int, sql: String)]

    /// - Parameters:
    ///   - count: how many other parameters it has, which come first.
    ///   - text: makes its text of the list as it stands behind `IN` or, each in parentheses, behind `VALUES`.
    init(after count: Int = 0, _ text: (_ list: (in: String, rows: String)) -> String) {
        texts = Self.lengths.map { length in
            let places = (1...length).map { "$\(count + $0)" }
            let rows = places.map { "(\($0))" }.joined(separator: ", ")
            return (length, text(("(\(places.joined(separator: ", ")))", rows)))
        }
    }

    /// The texts with their arguments for a list of any length; none for an empty one.
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

    /// Carries it out like `enqueue(_:_:)`, in the order of the list.
    func enqueue(_ statement: ListStatement, _ others: [Value] = [], list: [Value]) throws {
        for part in statement.parts(others, list) { try enqueue(part.sql, part.arguments) }
    }
}
