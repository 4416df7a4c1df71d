import Synchronization

/// Something that sessions in memory depend on. A change shuts it, and with that all of them are forgotten, whatever
/// their number; what is loaded afterwards depends on another gate.
final class Gate<Content: Equatable & Sendable>: Sendable {
    let content: Content
    /// The one of the same key with other content, such as a device under another certificate.
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

/// The gates of one kind, in shards, so that nobody waits for long.
///
/// Of one key and content there is one open gate at most, or a change would miss the sessions of the other. So a gate
/// leaves the table only when it is shut, or when nothing depends on it.
final class GateTable<Key: Hashable & Sendable, Content: Equatable & Sendable>: Sendable {
    private final class Shard: Sendable {
        let gates = Mutex<[Key: Gate<Content>]>([:])
    }

    private let shards = (0..<64).map { _ in Shard() }

    private func shard(of key: Key) -> Shard { shards[Int(UInt(bitPattern: key.hashValue) % UInt(shards.count))] }

    /// The gate of a key with some content, made if there is none.
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

    /// Shuts the gates of a key.
    func invalidate(_ key: Key) { shard(of: key).gates.withLock { $0.removeValue(forKey: key) }?.invalidate() }

    /// Forgets gates that no session depends on.
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

    /// For how many keys there is a gate.
    var count: Int { shards.reduce(0) { $0 + $1.gates.withLock { $0.count } } }
}

extension Dictionary {
    /// Gives back the places of a time when there was far more in it.
    mutating func shrink() {
        guard capacity / 4 > count else { return }
        self = Dictionary(uniqueKeysWithValues: map { ($0.key, $0.value) })
    }
}
