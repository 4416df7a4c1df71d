/// The keys of writes that a transaction makes once, whichever of its bodies asks for them first.
struct WritesOnce {
    private var made: Set<[Value]> = []
    /// Those of the body that may be rolled back separately.
    private var apart: Set<[Value]> = []

    /// Records writes.
    ///
    /// - Returns: whether the transaction has not made them yet.
    mutating func isNew(_ key: [Value]) -> Bool {
        !made.contains(key) && apart.insert(key).inserted
    }

    /// Keeps the writes of the bodies before.
    mutating func beginApart() {
        made.formUnion(apart)
        apart = []
    }

    /// Forgets the writes of a body that was rolled back.
    mutating func takeBackApart() { apart = [] }
}
