import Foundation
import Glibc
import Synchronization

/// The terminal of the command, if there is one.
enum Terminal {
    /// The number of characters in a line of standard output; `nil` if it is not a terminal.
    static let width: Int? = {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        // struct winsize: rows, columns, and two sizes in pixels.
        var size: [UInt16] = [0, 0, 0, 0]
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size[1] > 0 else { return 80 }
        return Int(size[1])
    }()

    /// The number of characters in a line of help, as the parser has it: `COLUMNS`, that of the terminal, or 80.
    static let helpWidth: Int = {
        let named = ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) }
        return named.flatMap { $0 > 0 ? $0 : nil } ?? width ?? 80
    }()

    /// Whether standard output shows colours: a terminal does, unless `NO_COLOR` is set (no-color.org) or `TERM` is
    /// `dumb`.
    static let hasColour: Bool = {
        let environment = ProcessInfo.processInfo.environment
        return width != nil && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }()

    /// Whether standard error is a terminal.
    static var showsErrors: Bool { isatty(STDERR_FILENO) == 1 }

    /// A text in bold, if there are colours.
    static func bold(_ text: String) -> String {
        hasColour ? "\u{1B}[1m\(text)\u{1B}[0m" : text
    }

    /// A text in green or red, if there are colours and a result is given.
    static func verdict(_ text: String, isGood: Bool?) -> String {
        guard hasColour, let isGood else { return text }
        return "\u{1B}[\(isGood ? 32 : 31)m\(text)\u{1B}[0m"
    }
}

/// Shows the progress of a command that takes longer than a second, only on a terminal.
final class Progress: Sendable {
    private let what: String
    private let isShown: Bool
    private let clock = ContinuousClock()
    private let started: ContinuousClock.Instant
    private let shownAt: Mutex<ContinuousClock.Instant?>

    /// Starts the clock.
    ///
    /// - Parameter what: the activity, such as `verifying entries`.
    init(_ what: String) {
        self.what = what
        isShown = Terminal.showsErrors
        started = clock.now
        shownAt = Mutex(nil)
    }

    /// Shows the completed part of the work, at most four times a second.
    func report(_ done: some BinaryInteger, of all: some BinaryInteger) {
        guard isShown else { return }
        let now = clock.now
        guard now - started > .seconds(1) else { return }
        let isDue = shownAt.withLock { last in
            if let last, now - last < .milliseconds(250) { return false }
            last = now
            return true
        }
        guard isDue else { return }
        let share = all > 0 ? Int(Double(done) / Double(all) * 100) : 0
        write("\r\(what): \(done) of \(all) (\(share) %)\u{1B}[K")
    }

    /// Shows only the elapsed time until the body ends, if its progress cannot be counted.
    func during<Result>(_ body: () throws -> Result) rethrows -> Result {
        let telling = Task { [self] in
            while isShown, !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(500))
                let elapsed = clock.now - started
                guard elapsed > .seconds(1), !Task.isCancelled else { continue }
                shownAt.withLock { $0 = clock.now }
                write("\r\(what): \(elapsed.components.seconds) s\u{1B}[K")
            }
        }
        defer {
            telling.cancel()
            end()
        }
        return try body()
    }

    func end() {
        if shownAt.withLock({ $0 != nil }) { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }
}
