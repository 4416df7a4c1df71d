/// Why a command failed, for the person or program that started it.
struct CommandFailure: Error, Equatable {
    enum Status: Int32 {
        case refused = 1
        case usage = 2
        case storeUnavailable = 69
    }

    /// One sentence for standard error, without secrets.
    let sentence: String
    let exitCode: Status

    init(_ sentence: String, exitCode: Status = .refused) {
        self.sentence = sentence
        self.exitCode = exitCode
    }
}

extension CommandFailure: CustomStringConvertible {
    var description: String { sentence }
}
