/// The fields of a form or of a query (`application/x-www-form-urlencoded`), in order.
public enum FormFields {
    public enum Defect: Error {
        /// A name or value is not percent-encoded UTF-8.
        case encoding
        /// A name or value has a long run of combining marks.
        case marks
        /// There are more fields than permitted.
        case count
    }
}

public extension FormFields {
    /// Parses fields.
    ///
    /// - Parameter most: the largest number of fields.
    static func parse(_ bytes: some Collection<UInt8>, most: Int) throws(Defect) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let (name, value) = (try text(parts.first), try text(parts.dropFirst().first))
            guard fields.count < most else { throw .count }
            fields.append((name, value))
        }
        return fields
    }

    private static func text(_ bytes: (some Collection<UInt8>)?) throws(Defect) -> String {
        guard let bytes else { return "" }
        let spaced = bytes.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        guard let decoded = PercentEncoding.decode(spaced), let text = String(validating: decoded, as: UTF8.self) else {
            throw .encoding
        }
        guard text.isStreamSafe else { throw .marks }
        return text
    }
}
