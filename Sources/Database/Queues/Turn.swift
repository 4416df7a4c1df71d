/// What some writers have in common that all of them read and change. Where they are in each other's way they go one behind
/// the other, on all nodes.
///
/// It decides nothing: a writer that goes out of turn is as correct, and is taken back more often.
package struct Turn: Sendable, Hashable {
    let name: String

    /// - Parameter name: whoever gives the same one goes in the same line.
    package init(_ name: String) { self.name = name }

    /// The lock of a server that stands for it (FNV-1a, equal in every process). Two names with one number wait for each
    /// other without need.
    var lock: Int64 {
        Int64(
            bitPattern: name.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
                (hash ^ UInt64(byte)) &* 0x100_0000_01b3
            })
    }
}
