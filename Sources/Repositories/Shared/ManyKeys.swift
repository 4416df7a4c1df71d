/// Splits keys into parts of a few sizes, so that few statements are kept prepared and not each key costs one.
enum ManyKeys {
    /// The sizes of parts. The smallest that fits the remaining keys is used, or else the largest.
    private static let sizes = [1, 20, 500]

    /// The keys in parts, the last one padded with its last key.
    static func parts<Key>(_ keys: [Key]) -> [[Key]] {
        let largest = sizes.max() ?? 1
        return stride(from: 0, to: keys.count, by: largest).map { start in
            let part = Array(keys[start..<min(start + largest, keys.count)])
            let size = sizes.first { $0 >= part.count } ?? largest
            return part + part.suffix(1).flatMap { Array(repeating: $0, count: size - part.count) }
        }
    }

    /// The parameters of a part, for `IN`.
    static func places<Key>(_ part: [Key]) -> String {
        part.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    }
}
