import Encoding
import Operations

extension CountedSessions {
    /// `12`, or `at least 1000` where they were counted no further.
    var text: String { isLeast ? "at least \(count)" : "\(count)" }

    var json: JSONValue { .integer(Int64(count)) }
}
