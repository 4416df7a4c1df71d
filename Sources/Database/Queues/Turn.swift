/// Names rows that several writers read and change. After a conflict, writers with the same turn run one after another,
/// on all nodes.
///
/// A turn is an optimization. A writer that ignores it is also correct, but is rolled back more often.
package struct Turn: Sendable, Hashable {
    let name: String

    /// - Parameter name: writers that give equal names take turns.
    package init(_ name: String) { self.name = name }

    /// The number of the server's advisory lock (FNV-1a, equal in every process). Two names with equal numbers wait for
    /// each other unnecessarily.
    var lock: Int64 {
        Int64(
            bitPattern: name.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
                (hash ^ UInt64(byte)) &* 0x100_0000_01b3
            })
    }
}
