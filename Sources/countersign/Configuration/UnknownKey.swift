/// The sentence about an unknown key, with the known key that was probably meant.
enum UnknownKey {
    static func sentence(_ key: String, known: [String]) -> String {
        if let near = nearest(to: key, among: known) {
            return "unknown key '\(key)'; did you mean '\(near)'?"
        }
        return "unknown key '\(key)'; "
            + (known.isEmpty ? "none is known here" : "known: \(known.joined(separator: ", "))")
    }

    /// The known word that was probably meant; `nil` if none is like the given one.
    static func nearest(to word: String, among known: [String]) -> String? {
        let near = known.min { distance(word, $0) < distance(word, $1) }
        return near.flatMap { distance(word, $0) <= 2 ? $0 : nil }
    }

    /// The number of omitted, added, replaced or swapped letters (optimal string alignment).
    static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        // Long texts are not misspelt keys, so they get no table.
        guard left.count <= 64, right.count <= 64 else { return .max }
        var rows = [Array(0...right.count)]
        for (i, a) in left.enumerated() {
            var row = [i + 1]
            for (j, b) in right.enumerated() {
                var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a == b ? 0 : 1))
                if i > 0, j > 0, a == right[j - 1], left[i - 1] == b { least = min(least, rows[i - 1][j - 1] + 1) }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
