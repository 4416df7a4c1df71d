/// Keys of which each would cost a statement of its own, in parts of few sizes: an engine keeps a statement of each
/// size prepared.
enum ManyKeys {
    /// How many keys a part has: the smallest size that holds what is left, or else the largest.
    private static let sizes = [1, 20, 500]

    /// The keys in parts, the last one filled up with its last key.
    static func parts<Key>(_ keys: [Key]) -> [[Key]] {
        let largest = sizes.max() ?? 1
        return stride(from: 0, to: keys.count, by: largest).map { start in
            let part = Array(keys[start..<min(start + largest, keys.count)])
            let size = sizes.first { $0 >= part.count } ?? largest
            return part + part.suffix(1).flatMap { Array(repeating: $0, count: size - part.count) }
        }
    }

    /// The parameters of a part, behind `IN`.
    static func places<Key>(_ part: [Key]) -> String {
        part.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    }
}
