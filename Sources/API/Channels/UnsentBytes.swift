/// Says that a peer takes none of its answers, to the connection that carries them.
struct AnswersNotTaken: Sendable {}

/// The bytes of answers that a connection owes and its peer has not taken. Used on its event loop alone.
final class UnsentBytes {
    private let limit: Int
    private(set) var count = 0
    private var waiting: [AnswerPaceHandler] = []

    init(limit: Int) {
        self.limit = limit
    }

    /// Whether no more requests are to be worked on until some of it has left.
    var isFull: Bool { count > limit }

    func add(_ bytes: Int) {
        count += bytes
    }

    /// Some have left, or nobody wants them any more: the request that waited longest is worked on.
    func subtract(_ bytes: Int) {
        count -= bytes
        guard !isFull, !waiting.isEmpty else { return }
        waiting.removeFirst().release()
    }

    func wait(_ handler: AnswerPaceHandler) {
        waiting.append(handler)
    }

    func forget(_ handler: AnswerPaceHandler) {
        waiting.removeAll { $0 === handler }
    }
}
