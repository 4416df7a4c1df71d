extension StringProtocol {
    /// Whether no more than 30 combining marks follow one another: the Stream-Safe Text Format (UAX #15 §13).
    ///
    /// Swift compares, hashes and splits text by canonical equivalence, for which it sorts the marks of a run. That
    /// takes quadratic time: one comparison with a run of 64 KiB took seconds. Text from outside is looked at here,
    /// in linear time, before anything else is done with it.
    package var isStreamSafe: Bool {
        if utf8.withContiguousStorageIfAvailable(Self.isASCII) ?? false { return true }
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

    private static func isASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        bytes.reduce(0, |) < 0x80
    }
}
