/// Statements such as `age_over_18` (ISO/IEC 18013-5 §7.2.5). An issuer signs some ages, and a wallet answers a question
/// about another age with the nearest one.
package enum AgeStatement {
    private static let prefix = "age_over_"
}

package extension AgeStatement {
    /// The most statements that a wallet may present. More would narrow down the birthday.
    static let maximumCount = 2

    /// The age of a statement; `nil` for any other element.
    static func age(of element: String) -> Int? {
        let digits = element.utf8.dropFirst(prefix.utf8.count)
        guard element.utf8.starts(with: prefix.utf8), digits.count == 2,
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(String(decoding: Array(digits), as: UTF8.self))
    }

    /// Whether the holder is at least this old; `nil` if the statements do not decide it.
    ///
    /// A person over 21 is over 18. A person who is not over 16 is not over 18 either.
    static func isAtLeast(_ age: Int, by statements: [(age: Int, holds: Bool)]) -> Bool? {
        let older = statements.contains { $0.age >= age && $0.holds }
        let younger = statements.contains { $0.age <= age && !$0.holds }
        return older == younger ? nil : older
    }
}
