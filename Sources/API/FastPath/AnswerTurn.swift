/// Whether the fast path may answer now on a connection of HTTP/1.1. Answers leave in the order of their requests (RFC
/// 9112 §9.3.2).
struct AnswerTurn {
    /// The number of requests that the routes have not answered completely.
    private var unanswered = 0
    /// Whether a request for the routes is still being read.
    private var isReading = false
    /// Whether an answer closed the connection or the listener stops. Then only the routes answer.
    private(set) var isOver = false

    /// Whether the next request may be answered ahead of the routes.
    var isOurs: Bool { unanswered == 0 && !isReading && !isOver }

    /// Whether a complete request waits for the routes. The connection is then not idle.
    var isAwaited: Bool { unanswered > 0 && !isReading }

    mutating func passOn() {
        unanswered += 1
        isReading = true
    }

    mutating func endRequest() { isReading = false }

    /// Records that a routes' answer has ended; `true` if it was the last due one.
    mutating func endAnswer() -> Bool {
        unanswered = max(0, unanswered - 1)
        return unanswered == 0
    }

    mutating func endConnection() { isOver = true }
}
