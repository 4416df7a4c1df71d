/// Whose turn it is to answer on a connection of HTTP/1.1, where answers leave in the order of their requests
/// (RFC 9112 §9.3.2).
struct AnswerTurn {
    /// Requests that went on to the routes and whose answers have not ended.
    private var behind = 0
    /// Whether a request that went on has not come to its end.
    private var isReading = false
    /// Whether an answer said that the connection ends, or the listener stops: the routes say how.
    private(set) var isOver = false

    /// Whether a request that begins now may be answered ahead of the routes.
    var isOurs: Bool { behind == 0 && !isReading && !isOver }

    /// Whether a request that was read to its end waits for the routes: nobody is idle then.
    var isAwaited: Bool { behind > 0 && !isReading }

    mutating func passOn() {
        behind += 1
        isReading = true
    }

    mutating func endRequest() { isReading = false }

    /// An answer of the routes has ended; `true` where it was the last that is owed.
    mutating func endAnswer() -> Bool {
        behind = max(0, behind - 1)
        return behind == 0
    }

    mutating func endConnection() { isOver = true }
}
