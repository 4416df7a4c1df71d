enum CSV {
    /// Why a text is malformed.
    struct Malformed: Error, CustomStringConvertible { let description: String }

    /// Reads records, with the names in the first one. All must have the same number of fields.
    static func read(_ text: String) throws -> [[String: String]] {
        var records = try rows(text)
        guard !records.isEmpty else { throw Malformed(description: "the file is empty") }
        let names = records.removeFirst()
        guard Set(names).count == names.count else { throw Malformed(description: "line 1 has a repeated column name") }
        return try records.enumerated().map { index, record in
            guard record.count == names.count else {
                throw Malformed(description: "record \(index + 2) has \(record.count) fields instead of \(names.count)")
            }
            return Dictionary(uniqueKeysWithValues: zip(names, record))
        }
    }

    private static func rows(_ text: String) throws -> [[String]] {
        var (rows, row, field) = ([[String]](), [String](), "")
        var (isQuoted, wasQuoted) = (false, false)
        func isEmptyLine() -> Bool { row.isEmpty && field.isEmpty && !wasQuoted }
        // "\r\n" is one character in Swift.
        var characters = text.drop { $0 == "\u{FEFF}" }.makeIterator()
        var next = characters.next()
        while let character = next {
            next = characters.next()
            switch (character, isQuoted) {
            case ("\"", true):
                if next == "\"" {
                    field.append("\"")
                    next = characters.next()
                } else {
                    isQuoted = false
                }
            case ("\"", false):
                guard field.isEmpty, !wasQuoted else { throw Malformed(description: "a quote is inside a field") }
                (isQuoted, wasQuoted) = (true, true)
            case (",", false):
                row.append(field)
                (field, wasQuoted) = ("", false)
            case ("\n", false), ("\r\n", false):
                if !isEmptyLine() { rows.append(row + [field]) }
                (row, field, wasQuoted) = ([], "", false)
            default:
                guard isQuoted || !wasQuoted else { throw Malformed(description: "text follows a closing quote") }
                field.append(character)
            }
        }
        guard !isQuoted else { throw Malformed(description: "a quote is not closed") }
        if !isEmptyLine() { rows.append(row + [field]) }
        return rows
    }

    /// Writes records. A field that a spreadsheet would treat as a formula gets an apostrophe.
    static func write(_ rows: [[String]]) -> String {
        rows.map { row in
            row.map { field in
                let isFormula = field.first.map { "=+-@\t\r".contains($0) } ?? false
                let text = isFormula ? "'" + field : field
                return text.contains { ",\"\n\r\r\n".contains($0) } ? "\"\(text.replacing("\"", with: "\"\""))\"" : text
            }.joined(separator: ",") + "\r\n"
        }.joined()
    }
}
