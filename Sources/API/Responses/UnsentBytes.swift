/// The event, for the connection, that a peer reads none of its answers.
struct AnswersNotTaken: Sendable {}

/// The bytes of answers that a connection has not sent. Use only on its event loop.
final class UnsentBytes {
    private let limit: Int
    private(set) var count = 0
    private var waiting: [(id: ObjectIdentifier, goOn: () -> Void)] = []

    init(limit: Int) {
        self.limit = limit
    }

    /// Whether no more requests may be worked on until some bytes were sent.
    var isFull: Bool { count > limit }

    func add(_ bytes: Int) {
        count += bytes
    }

    /// Subtracts sent or discarded bytes. The longest waiting request is then worked on.
    func subtract(_ bytes: Int) {
        count -= bytes
        guard !isFull, !waiting.isEmpty else { return }
        waiting.removeFirst().goOn()
    }

    func wait(_ id: ObjectIdentifier, _ goOn: @escaping () -> Void) {
        waiting.append((id, goOn))
    }

    func forget(_ id: ObjectIdentifier) {
        waiting.removeAll { $0.id == id }
    }
}
