// Every request compares text here several times. Without `@inlinable` other modules would call the generic functions,
// which look up the types of a text at run time (Upstream.md).
public extension StringProtocol {
    /// Whether at most 30 combining marks follow one another: the Stream-Safe Text Format (UAX #15 §13).
    ///
    /// Swift compares, hashes and splits text by canonical equivalence, for which it sorts the marks of a run. That
    /// takes quadratic time: one comparison with a run of 64 KiB took seconds. Text from outside is checked here, in
    /// linear time, before it is used (Upstream.md).
    @inlinable var isStreamSafe: Bool {
        if utf8.withContiguousStorageIfAvailable({ $0.reduce(0, |) < 0x80 }) ?? false { return true }
        var run = 0
        for scalar in unicodeScalars {
            if scalar.properties.canonicalCombiningClass == .notReordered {
                run = 0
            } else {
                run += 1
                if run > 30 { return false }
            }
        }
        return true
    }

    /// Whether both have the same bytes.
    ///
    /// Use this for text that is not validated yet. `==` compares by canonical equivalence: with a run of combining
    /// marks one comparison of a path took 13 ms.
    @inlinable func hasSameBytes(as other: some StringProtocol) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let isSame = utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { bytes.elementsEqual($0) }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
