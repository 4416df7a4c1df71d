import Synchronization

/// A validity flag that cached sessions share. A change invalidates it, and with it all of these sessions, whatever
/// their number. Sessions that are loaded later share another flag.
final class Gate<Content: Equatable & Sendable>: Sendable {
    let content: Content
    /// Another flag of the same key with other content, such as a device with another certificate.
    fileprivate let other: Gate?
    private let isShut = Atomic<Bool>(false)

    fileprivate init(_ content: Content, _ other: Gate?) { (self.content, self.other) = (content, other) }

    var isOpen: Bool { !isShut.load(ordering: .acquiring) }

    fileprivate func invalidate() {
        var next: Gate? = self
        while let gate = next {
            gate.isShut.store(true, ordering: .releasing)
            next = gate.other
        }
    }
}

/// The flags of one kind, in shards to reduce contention.
///
/// A key and content have at most one valid flag, or a change would miss the sessions of the other one. So a flag
/// leaves the table only after it was invalidated, or when no session refers to it.
final class GateTable<Key: Hashable & Sendable, Content: Equatable & Sendable>: Sendable {
    private final class Shard: Sendable {
        let gates = Mutex<[Key: Gate<Content>]>([:])
    }

    private let shards = (0..<64).map { _ in Shard() }

    private func shard(of key: Key) -> Shard { shards[Int(UInt(bitPattern: key.hashValue) % UInt(shards.count))] }

    /// The flag of a key and content, created if there is none.
    func gate(_ key: Key, _ content: Content) -> Gate<Content> {
        shard(of: key).gates.withLock { gates in
            var next = gates[key]
            while let gate = next {
                if gate.content == content { return gate }
                next = gate.other
            }
            let gate = Gate(content, gates[key])
            gates[key] = gate
            return gate
        }
    }

    /// Invalidates the flags of a key.
    func invalidate(_ key: Key) { shard(of: key).gates.withLock { $0.removeValue(forKey: key) }?.invalidate() }

    /// Drops flags that no session refers to.
    func dropUnheld() {
        for shard in shards {
            shard.gates.withLock { gates in
                for key in Array(gates.keys) {
                    while isKnownUniquelyReferenced(&gates[key]) { gates[key] = gates[key]?.other }
                }
                gates.shrink()
            }
        }
    }

    /// The number of keys with a flag.
    var count: Int { shards.reduce(0) { $0 + $1.gates.withLock { $0.count } } }
}

extension Dictionary {
    /// Releases capacity from a time when it had many more elements.
    mutating func shrink() {
        guard capacity / 4 > count else { return }
        self = Dictionary(uniqueKeysWithValues: map { ($0.key, $0.value) })
    }
}
