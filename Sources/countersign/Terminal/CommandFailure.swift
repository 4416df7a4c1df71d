/// Why a command was not carried out, for the person or program that gave it.
struct CommandFailure: Error, Equatable {
    enum Status: Int32 {
        case refused = 1
        case usage = 2
        case storeUnavailable = 69
    }

    /// What standard error is told: one sentence, no secret in it.
    let sentence: String
    let exitCode: Status

    init(_ sentence: String, exitCode: Status = .refused) {
        self.sentence = sentence
        self.exitCode = exitCode
    }
}

extension CommandFailure: CustomStringConvertible {
    /// The sentence, as a log says it.
    var description: String { sentence }
}
