import Foundation
import Synchronization

/// Runs other programs, each for a bounded time.
package enum Command {
    /// Why a program gave no result.
    package enum Failure: Error, Sendable, Equatable {
        /// There is no such program on the path.
        case notFound(String)
        /// It ran longer than allowed and was stopped.
        case timedOut(String)
        /// The environment variable that says where it is has no value.
        case variableUnset(String)
    }

    /// What a program left behind: its exit status, and what it wrote as UTF-8.
    package typealias Result = (status: Int32, output: String, errors: String)

    /// Runs a program to its end.
    ///
    /// Input and output go through files, so that no pipe can fill up and stall either side.
    ///
    /// - Parameters:
    ///   - executable: a path, or a name that is looked up on `PATH`.
    ///   - arguments: its arguments, none of which a shell sees.
    ///   - input: what it reads on standard input; nothing where `nil`.
    ///   - environment: variables added to those of this process.
    ///   - seconds: the longest that it may run; then it is killed and ``Failure/timedOut(_:)`` thrown.
    @discardableResult
    package static func run(
        _ executable: String, _ arguments: [String], input: Data? = nil, environment: [String: String] = [:],
        seconds: Double = 180
    ) async throws -> Result {
        let scratch = try ScratchDirectory()
        defer { withExtendedLifetime(scratch) {} }
        let process = Process()
        process.executableURL = try locate(executable)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: scratch.write(input ?? Data(), "in")))
        let output = try scratch.write(Data(), "out")
        let errors = try scratch.write(Data(), "err")
        let outputHandle = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
        let errorsHandle = try FileHandle(forWritingTo: URL(fileURLWithPath: errors))
        // A process that ended may live on in Foundation: its files are closed here, or they would add up.
        defer { for handle in [input, outputHandle, errorsHandle] { try? handle.close() } }
        process.standardInput = input
        process.standardOutput = outputHandle
        process.standardError = errorsHandle
        let finished = try await end(of: process, seconds: seconds)
        guard finished else { throw Failure.timedOut(executable) }
        return (process.terminationStatus, try text(output), try text(errors))
    }

    /// The path of a program in the Python environment that `COUNTERSIGN_VENV` names (its `bin` directory).
    package static func python(_ name: String) throws -> String {
        guard let directory = ProcessInfo.processInfo.environment["COUNTERSIGN_VENV"], !directory.isEmpty else {
            throw Failure.variableUnset("COUNTERSIGN_VENV")
        }
        return directory + "/" + name
    }

    /// Runs a body that makes a process, with its pipes, and starts it. No other such body runs meanwhile.
    ///
    /// Foundation closes in a child what was open when its start began. A child would inherit what another thread opened
    /// meanwhile, and who reads that pipe to its end, or waits for that thread's child, would wait for both.
    package static func starting<T>(_ body: () throws -> T) rethrows -> T { try startLock.withLock(body) }

    private static let startLock = NSLock()

    private static func locate(_ executable: String) throws -> URL {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let candidates =
            executable.contains("/") ? [executable] : path.split(separator: ":").map { "\($0)/\(executable)" }
        guard let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            throw Failure.notFound(executable)
        }
        return URL(fileURLWithPath: found)
    }

    /// Starts a process and waits for its end; `false` where it had to be killed.
    private static func end(of process: Process, seconds: Double) async throws -> Bool {
        let (ends, continuation) = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in continuation.finish() }
        try starting { try process.run() }
        let identifier = process.processIdentifier
        let limit = Task {
            try await Task.sleep(for: .seconds(seconds))
            kill(identifier, SIGKILL)
        }
        for await _ in ends {}
        limit.cancel()
        return process.terminationReason == .exit || process.terminationStatus != SIGKILL
    }

    private static func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    }
}

/// Does what waits for a process or a disk on a thread of its own. Tasks have as many threads as there are cores; one that
/// is blocked delays other tests.
package func onOwnThread<T: Sendable>(_ body: @Sendable @escaping () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Result(catching: body)) }.start()
    }
}

/// A directory (mode 0700) that is removed when the last reference to it goes.
package final class ScratchDirectory: Sendable {
    package let path: String

    /// Makes an empty directory among the temporary files.
    package init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("countersign-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of a file in it.
    package func file(_ name: String) -> String { path + "/" + name }

    /// Writes a file and gives its path.
    @discardableResult
    package func write(_ data: some DataProtocol, _ name: String) throws -> String {
        try Data(data).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }

    /// Writes a text and gives its path.
    @discardableResult
    package func write(_ text: String, _ name: String) throws -> String {
        try write(Array(text.utf8), name)
    }

    package func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: file(name))), as: UTF8.self)
    }
}

extension ScratchDirectory {
    private static let paths = Mutex<[String]>([])
    private static let removal: Void = {
        atexit {
            for path in ScratchDirectory.paths.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
        }
    }()

    /// Makes an empty directory that is removed when the process exits: what is static is never released.
    package static func untilExit() throws -> ScratchDirectory {
        _ = removal
        let directory = try ScratchDirectory()
        paths.withLock { $0.append(directory.path) }
        return directory
    }
}
