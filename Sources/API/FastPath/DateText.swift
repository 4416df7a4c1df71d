import Encoding
import Foundation
import NIOCore
import Synchronization

/// The current date in HTTP's form, formatted once a second.
final class DateText: Sendable {
    private struct Made {
        var second = Int64.min
        var text = ""
    }

    private let now: @Sendable () -> Date
    private let made = Mutex(Made())

    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    var text: String {
        let now = now()
        let second = Int64(saturating: now.timeIntervalSince1970.rounded(.down))
        return made.withLock { made in
            if made.second != second { made = Made(second: second, text: ListenerFace.date(now)) }
            return made.text
        }
    }
}
